/**
 * How much work a call is, in steps: the same number on every machine and in every run.
 *
 * The engine counts how often each block of our source ran. What the language's own functions do inside is added here: a
 * search in a list, a copy of it, a text that is taken apart is one step for each element or character gone over.
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

/** `run` must not wait for anything. */
export function stepsOf(run: () => unknown): number {
  const session = new Session();
  session.connect();
  // Code that the compiler has optimised does not count the calls it took in.
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  try {
    // Both come back at once: the session is with this same thread.
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
/** From where the search begins to where it ends. */
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

/** Calls with a function of ours are not here: the engine counts that function. */
const SITES: readonly Site[] = [
  ...["includes", "lastIndexOf", "join", "slice", "concat", "with", "toSpliced", "splice", "shift", "unshift"]
    .concat(["sort", "toSorted", "reverse", "toReversed", "flat", "fill", "values", "entries", "keys"])
    .map((name) => ({ owner: Array.prototype, name, cost: ofSelf })),
  ...[Array.prototype, String.prototype].map((owner) => ({ owner, name: "indexOf", cost: ofSearch })),
  // What `[...list]`, `for (… of list)` and `new Set(list)` ask for.
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
  // What a count itself calls is not counted.
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
