/** Summarises the mutants of a room. Pure. */

export type Mutant = {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
};
/** The used fields of Stryker's JSON report. */
export type MutationReport = { readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>> };

export type Score = { readonly killed: number; readonly survived: number };

const KILLED = ["Killed", "Timeout"];
const SURVIVED = ["Survived", "NoCoverage"];

/** Excludes mutants that do not compile, and those of code that runs once when a module is loaded. */
export function scoreOf(mutants: readonly Mutant[]): Score {
  const count = (statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  return { killed: count(KILLED), survived: count(SURVIVED) };
}

export function sumOf(scores: readonly Score[]): Score {
  return {
    killed: scores.reduce((sum, { killed }) => sum + killed, 0),
    survived: scores.reduce((sum, { survived }) => sum + survived, 0),
  };
}

export function percentOf({ killed, survived }: Score): number {
  return killed + survived === 0 ? 100 : (100 * killed) / (killed + survived);
}

export function scoreLine(name: string, score: Score): string {
  const counts = `${score.killed} of ${score.killed + score.survived}`;
  return `${name.padEnd(48)} ${percentOf(score).toFixed(1).padStart(5)} %  ${counts}`;
}

/** Lists the survived mutants in the order of their lines. */
export function survivorLines({ files }: MutationReport): readonly string[] {
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => SURVIVED.includes(status))
      .toSorted((left, right) => left.location.start.line - right.location.start.line)
      .map(({ location: { start }, mutatorName, replacement = "", status }) => {
        const note = status === "NoCoverage" ? ", which no test reaches" : "";
        return `${file}:${start.line}:${start.column} ${mutatorName}: ${plainText(replacement)}${note}`;
      }),
  );
}

function plainText(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
