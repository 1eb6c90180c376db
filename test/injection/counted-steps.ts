/**
 * Counts the work of a call in steps: the same number on every machine and in every run.
 *
 * V8 counts the executions of each block of the source. The work inside built-in functions is added here: a
 * search or a copy of a list, and a split of a string, count one step per visited element or character.
 */
import { Session } from "node:inspector";
import { sep } from "node:path";
import { setFlagsFromString } from "node:v8";

const SOURCE = `${sep}src${sep}`;
const COMPILERS: readonly string[] = ["opt", "maglev"];

type Range = { readonly count: number };
type Coverage = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
};

/** `run` must be synchronous. */
export function stepsOf(run: () => unknown): number {
  const session = new Session();
  session.connect();
  // Optimised code does not count inlined calls.
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  try {
    // Both return at once: the inspector session is with this thread.
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    const inside = withCountedBuiltins(run);
    let blocks = 0;
    session.post("Profiler.takePreciseCoverage", (error: Error | null, coverage: Coverage) => {
      if (error !== null) throw error;
      const ours = coverage.result.filter(({ url }) => url.includes(SOURCE) && !url.includes("node_modules"));
      for (const { functions } of ours)
        for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    });
    session.post("Profiler.stopPreciseCoverage");
    return blocks + inside;
  } finally {
    session.disconnect();
    for (const compiler of COMPILERS) setFlagsFromString(`--${compiler}`);
  }
}

type Sized = { readonly length: number };
type Method = (this: unknown, ...given: unknown[]) => unknown;
type Site = {
  readonly owner: object;
  readonly name: PropertyKey;
  readonly cost: (self: unknown, given: unknown[], result: unknown) => number;
};

const ofSelf = (self: unknown): number => (self as Sized).length;
const ofResult = (_self: unknown, _given: unknown[], result: unknown): number => Object.keys(result as object).length;
/** The elements between the start and the end of a search. */
const ofSearch = (self: unknown, [, from]: unknown[], result: unknown): number => {
  const end = typeof result === "number" && result >= 0 ? result : (self as Sized).length;
  return Math.max(1, end - (typeof from === "number" ? from : 0));
};
const ofFirst = (_self: unknown, [first]: unknown[]): number =>
  typeof first === "string"
    ? first.length
    : typeof first === "object" && first !== null
      ? Object.keys(first).length
      : 1;
const ofTexts = (self: unknown, given: unknown[], result: unknown): number =>
  ofFirst(self, given) + (typeof result === "string" ? result.length : 0);

/** Built-ins without a callback; V8 counts callbacks itself. */
const SITES: readonly Site[] = [
  ...["includes", "lastIndexOf", "join", "slice", "concat", "with", "toSpliced", "splice", "shift", "unshift"]
    .concat(["sort", "toSorted", "reverse", "toReversed", "flat", "fill", "values", "entries", "keys"])
    .map((name) => ({ owner: Array.prototype, name, cost: ofSelf })),
  ...[Array.prototype, String.prototype].map((owner) => ({ owner, name: "indexOf", cost: ofSearch })),
  // Used by `[...list]`, `for (… of list)` and `new Set(list)`.
  { owner: Array.prototype, name: Symbol.iterator, cost: ofSelf },
  ...["includes", "lastIndexOf", "split", "replace", "replaceAll", "trim", "match", "search"]
    .concat(["toLowerCase", "toUpperCase", "padEnd", "padStart", "normalize"])
    .map((name) => ({ owner: String.prototype, name, cost: ofSelf })),
  ...["exec", "test"].map((name) => ({ owner: RegExp.prototype, name, cost: ofFirst })),
  ...["keys", "values", "entries"].map((name) => ({ owner: Object, name, cost: ofResult })),
  { owner: Object, name: "fromEntries", cost: ofResult },
  ...["parse", "stringify"].map((name) => ({ owner: JSON, name, cost: ofTexts })),
];

function withCountedBuiltins(run: () => unknown): number {
  let steps = 0;
  // Calls of the counter itself are not counted.
  let isCounting = false;
  const replaced = SITES.map(({ owner, name, cost }) => {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name) ?? {};
    const original = descriptor.value as Method;
    const value = function counted(this: unknown, ...given: unknown[]): unknown {
      const result = Reflect.apply(original, this, given);
      if (!isCounting) return result;
      isCounting = false;
      steps += 1 + cost(this, given, result);
      isCounting = true;
      return result;
    };
    return { owner, name, before: descriptor, counted: { ...descriptor, value } };
  });
  replaced.forEach(({ owner, name, counted }) => {
    Object.defineProperty(owner, name, counted);
  });
  try {
    isCounting = true;
    run();
  } finally {
    isCounting = false;
    replaced.forEach(({ owner, name, before }) => {
      Object.defineProperty(owner, name, before);
    });
  }
  return steps;
}
