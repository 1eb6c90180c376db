/** Finds tests that depend on timing or free ports, by patterns in their source. The list of patterns is not complete. */

export type FlakyRule = {
  readonly name: string;
  /** The recommended alternative, printed with each match. */
  readonly alternative: string;
  readonly pattern: RegExp;
  /** Limits the rule to files whose source matches this expression too. */
  readonly fileFilter?: RegExp;
  /** Whether a line with `// bound: REASON` is accepted. */
  readonly acceptsReason?: boolean;
};

const REAL_CLOCK = /(?:performance|Date)\.now\(\)/.source;
/** Matches the variables and functions of the test suite that contain or return measured durations. */
const MEASURED_DURATION = /\b(?:took|elapsed|gone|drain)Ms\b|\bsecondsBetween\(|\.milliseconds\b/.source;
const IN_EXPECTATION = /expect\((?:(?!expect\(|;\n)[\s\S])*?/.source;
const AT_MOST = /\.(?:not\.toBeGreaterThan|toBeLessThan)(?:OrEqual)?\(/.source;
/** Ports on which programs of the system may listen. */
const LOW_PORT = /(?:[1-9]\d{0,2}|10[01]\d|102[0-3])\b/.source;
const LOOPBACK = /(?:127\.0\.0\.1|localhost)/.source;

export const FLAKY_RULES: readonly FlakyRule[] = [
  {
    name: "a pause without a reason",
    alternative: "pause(ms, why) of test/time/pause.ts, or eventually(…) to wait for an event",
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
    name: "a wait with its own time limit",
    alternative: "eventually(…) of test/time/eventually.ts",
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
    alternative: "assert the outcome, or use virtual time; otherwise add `// bound: REASON` to the line",
    pattern: new RegExp(`${IN_EXPECTATION}(?:${REAL_CLOCK}|${MEASURED_DURATION})(?:(?!;\\n)[\\s\\S])*?${AT_MOST}`, "g"),
    acceptsReason: true,
  },
  {
    name: "an upper bound on real time in a comparison",
    alternative: "assert the outcome, or use virtual time; otherwise add `// bound: REASON` to the line",
    pattern: new RegExp(`expect\\([^;]*${REAL_CLOCK}[^;=]*<=? `, "g"),
    acceptsReason: true,
  },
  {
    name: "an upper bound on the duration of a real program",
    alternative: "assert the outcome, or use virtual time; otherwise add `// bound: REASON` to the line",
    fileFilter: /from "[^"]*(?:manager-process|running-webhook|demo-process)\.ts"/,
    pattern: new RegExp(`${IN_EXPECTATION}\\b(?:ms|\\w+Ms)\\b(?:(?!;\\n)[\\s\\S])*?${AT_MOST}`, "g"),
    acceptsReason: true,
  },
  {
    name: "a well-known port that is assumed to be free",
    alternative: "any port of an ownAddress() of test/leases/own-address.ts",
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

/** Exceptions, each with its reason. */
export const FLAKY_EXCEPTIONS: readonly { readonly under: string; readonly because: string }[] = [
  { under: "test/time/", because: "implements the alternatives" },
  { under: "test/architecture/flakiness", because: "contains examples of matches" },
  { under: "test/demo/real-clock.test.ts", because: "tests the real clock" },
  { under: "test/stability/", because: "simulates load, and does not wait for a program under test" },
  { under: "test/programs/", because: "runs real programs in real time" },
];

/** @returns a line per match: place, rule, and alternative */
export function flakyMatches(path: string, source: string): readonly string[] {
  if (FLAKY_EXCEPTIONS.some(({ under }) => path.startsWith(under))) return [];
  return FLAKY_RULES.filter(({ fileFilter }) => fileFilter === undefined || fileFilter.test(source)).flatMap((rule) =>
    [...source.matchAll(rule.pattern)]
      .filter((match) => !(rule.acceptsReason === true && hasReason(source, match.index + match[0].length)))
      .map((match) => `${path}:${lineOf(source, match)} ${rule.name}; instead: ${rule.alternative}`),
  );
}

/** The comment `// bound: REASON` may be on the last line of the statement. */
function hasReason(source: string, index: number): boolean {
  return /^[^;]*;[^\n]*\/\/ bound: \S/.test(source.slice(index));
}

function lineOf(source: string, { index }: RegExpExecArray): number {
  return source.slice(0, index).split("\n").length;
}
