/** What makes a test depend on luck, as it is recognized in its source: patterns that are sure, not all there could be. */

export type LuckRule = {
  readonly name: string;
  /** What to write instead; shown where the rule is broken. */
  readonly cure: string;
  readonly pattern: RegExp;
  /** Only in files whose text has this too. */
  readonly where?: RegExp;
  /** A line that says `// bound: ` and why is let be. */
  readonly bounds?: boolean;
};

const REAL_CLOCK = /(?:performance|Date)\.now\(\)/.source;
/** What the helpers of the suite measure by it. */
const MEASURED = /\b(?:took|elapsed|gone|drain)Ms\b|\bsecondsBetween\(|\.milliseconds\b/.source;
const IN_EXPECTATION = /expect\((?:(?!expect\(|;\n)[\s\S])*?/.source;
const AT_MOST = /\.(?:not\.toBeGreaterThan|toBeLessThan)(?:OrEqual)?\(/.source;
/** For programs of the system: any of them may listen there. */
const LOW_PORT = /(?:[1-9]\d{0,2}|10[01]\d|102[0-3])\b/.source;
const LOOPBACK = /(?:127\.0\.0\.1|localhost)/.source;

export const LUCK_RULES: readonly LuckRule[] = [
  {
    name: "a pause without a reason",
    cure: "pause(ms, why) of test/time/pause.ts, or eventually(…) where something is waited for",
    pattern: new RegExp(
      [
        /timers\/promises/.source,
        /new Promise(?:<[^>]*>)?\(\s*\(?(\w+)[^()]*\)?\s*=>\s*\{?\s*(?:return |void )?setTimeout\(\s*(?:\(\)\s*=>\s*\{?\s*)?\1\b/
          .source,
        /promisify\(setTimeout\)/.source,
        /await realClock\.wait\(/.source,
        /\bpause\([^;"`]*"\w*"\)/.source,
        /import \{[^}]*\bpause\b[^}]*\} from "[^"]*manager-process\.ts"/.source,
      ].join("|"),
      "g",
    ),
  },
  {
    name: "a wait with a limit and a message of its own",
    cure: "eventually(…) of test/time/eventually.ts",
    pattern: new RegExp(
      [
        /\bvi\.(?:waitFor|waitUntil)\(/.source,
        /\bexpect\s*\.poll\(/.source,
        /\bfunction (?:until|eventually|waitFor|waitUntil|poll)\b/.source,
        /\bconst (?:until|eventually|waitFor|waitUntil|poll) = (?:async )?(?:<\w+>)?(?:\(|\w+ =>)/.source,
        /\bwhile \(.*\)\s*\{?\s*await (?:pause|sleep)\(/.source,
      ].join("|"),
      "g",
    ),
  },
  {
    name: "an upper bound on real time",
    cure: "no bound: the outcome says it, or a test at virtual time; else `// bound: why` on the line",
    pattern: new RegExp(`${IN_EXPECTATION}(?:${REAL_CLOCK}|${MEASURED})(?:(?!;\\n)[\\s\\S])*?${AT_MOST}`, "g"),
    bounds: true,
  },
  {
    name: "an upper bound on real time, compared by hand",
    cure: "no bound: the outcome says it, or a test at virtual time; else `// bound: why` on the line",
    pattern: new RegExp(`expect\\([^;]*${REAL_CLOCK}[^;=]*<=? `, "g"),
    bounds: true,
  },
  {
    name: "an upper bound on how long a real program took",
    cure: "no bound: the outcome says it, or a test at virtual time; else `// bound: why` on the line",
    where: /from "[^"]*(?:manager-process|running-webhook|demo-process)\.ts"/,
    pattern: new RegExp(`${IN_EXPECTATION}\\b(?:ms|\\w+Ms)\\b(?:(?!;\\n)[\\s\\S])*?${AT_MOST}`, "g"),
    bounds: true,
  },
  {
    name: "a port of every program's taken for free",
    cure: "any port of an ownAddress() of test/leases/own-address.ts",
    pattern: new RegExp(
      [
        `(?<![.\\w])connect\\w*\\(\\s*(?:"${LOOPBACK}",\\s*)?${LOW_PORT}\\s*[,)]`,
        `(?<![.\\w])(?:connect\\w*|request|get)\\(\\s*\\{[^}]*host: "${LOOPBACK}"[^}]*port: ${LOW_PORT}`,
        `(?<![.\\w])fetch\\("https?://${LOOPBACK}:${LOW_PORT}`,
        `\\b(?:url|\\w+Url): "https?://${LOOPBACK}:${LOW_PORT}`,
      ].join("|"),
      "g",
    ),
  },
];

/** Where a rule does not hold, each with its reason. */
export const LUCK_EXCEPTIONS: readonly { readonly under: string; readonly because: string }[] = [
  { under: "test/time/", because: "is what the others use" },
  { under: "test/architecture/luck", because: "writes wrongly on purpose" },
  { under: "test/demo/real-clock.test.ts", because: "tests that clock" },
  { under: "test/calm/", because: "makes the machine's bad days, and waits for no program of ours" },
  { under: "test/programs/", because: "plays programs of others at a pace of their own" },
];

/** @returns a line for each break of a rule: where, which, and what to write instead */
export function luckIn(path: string, source: string): readonly string[] {
  if (LUCK_EXCEPTIONS.some(({ under }) => path.startsWith(under))) return [];
  return LUCK_RULES.filter(({ where }) => where === undefined || where.test(source)).flatMap((rule) =>
    [...source.matchAll(rule.pattern)]
      .filter((match) => !(rule.bounds === true && isExplained(source, match.index + match[0].length)))
      .map((match) => `${path}:${lineOf(source, match)} ${rule.name}; instead: ${rule.cure}`),
  );
}

/** The comment stands at the end of the statement. */
function isExplained(source: string, at: number): boolean {
  return /^[^;]*;[^\n]*\/\/ bound: \S/.test(source.slice(at));
}

function lineOf(source: string, { index }: RegExpExecArray): number {
  return source.slice(0, index).split("\n").length;
}
