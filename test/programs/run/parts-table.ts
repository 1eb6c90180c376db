/** What one run of all parts came to, as lines for its end. Pure. */

export type PartTotal = {
  readonly part: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly ms: number;
};

/** What the whole run should stay below on two quiet cores, in seconds. Told, not judged: machines differ. */
const LIMIT_SECONDS = 900;

/** Two files of one part are one row. */
export function partsTable(totals: readonly PartTotal[], allMs: number): string {
  const rows = [...new Set(totals.map(({ part }) => part))].map((part) => {
    const own = totals.filter((total) => total.part === part);
    return [part, ...counts(own), seconds(sum(own.map(({ ms }) => ms)))];
  });
  const last = ["all, with what lies between", ...counts(totals), `${seconds(allMs)} of ${LIMIT_SECONDS} s`];
  const lines = [["part", "passed", "failed", "skipped", "took"], ...rows, last];
  const widths = lines.reduce<readonly number[]>(
    (before, line) => line.map((cell, at) => Math.max(before[at] ?? 0, cell.length)),
    [],
  );
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function counts(totals: readonly PartTotal[]): readonly string[] {
  return [
    sum(totals.map(({ passed }) => passed)),
    sum(totals.map(({ failed }) => failed)),
    sum(totals.map(({ skipped }) => skipped)),
  ].map(String);
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
