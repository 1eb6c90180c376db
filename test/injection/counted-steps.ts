/**
 * Counts the work of a call in steps: the same number on every machine and in every run.
 *
 * V8 counts the executions of each block of the source. This file adds the work inside built-in functions: one step per element
 * or character that a search, a copy or a split visits.
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
export function countSteps(run: () => unknown): number {
  const session = new Session();
  session.connect();
  // V8 does not count inlined calls of optimised code.
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  try {
    // Calls of `session.post` complete synchronously, because the session inspects this thread.
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    const builtinSteps = withCountedBuiltins(run);
    let blocks = 0;
    session.post("Profiler.takePreciseCoverage", (error: Error | null, coverage: Coverage) => {
      if (error !== null) throw error;
      const sourceFiles = coverage.result.filter(({ url }) => url.includes(SOURCE) && !url.includes("node_modules"));
      for (const { functions } of sourceFiles)
        for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    });
    session.post("Profiler.stopPreciseCoverage");
    return blocks + builtinSteps;
  } finally {
    session.disconnect();
    for (const compiler of COMPILERS) setFlagsFromString(`--${compiler}`);
  }
}

type HasLength = { readonly length: number };
type Method = (this: unknown, ...args: unknown[]) => unknown;
type BuiltIn = {
  readonly owner: object;
  readonly name: PropertyKey;
  readonly cost: (self: unknown, args: unknown[], result: unknown) => number;
};

const costOfReceiver = (self: unknown): number => (self as HasLength).length;
const costOfResult = (_self: unknown, _args: unknown[], result: unknown): number =>
  Object.keys(result as object).length;
/** Counts the elements that a search visits: from its start to the found element, or to the end. */
const costOfSearch = (self: unknown, [, from]: unknown[], result: unknown): number => {
  const end = typeof result === "number" && result >= 0 ? result : (self as HasLength).length;
  return Math.max(1, end - (typeof from === "number" ? from : 0));
};
const costOfFirstArgument = (_self: unknown, [first]: unknown[]): number =>
  typeof first === "string"
    ? first.length
    : typeof first === "object" && first !== null
      ? Object.keys(first).length
      : 1;
const costOfTexts = (self: unknown, args: unknown[], result: unknown): number =>
  costOfFirstArgument(self, args) + (typeof result === "string" ? result.length : 0);

/** Built-in functions that do their work without a callback; V8 itself counts the work of callbacks. */
const BUILT_INS: readonly BuiltIn[] = [
  ...["includes", "lastIndexOf", "join", "slice", "concat", "with", "toSpliced", "splice", "shift", "unshift"]
    .concat(["sort", "toSorted", "reverse", "toReversed", "flat", "fill", "values", "entries", "keys"])
    .map((name) => ({ owner: Array.prototype, name, cost: costOfReceiver })),
  ...[Array.prototype, String.prototype].map((owner) => ({ owner, name: "indexOf", cost: costOfSearch })),
  // Used by `[...list]`, `for (… of list)` and `new Set(list)`.
  { owner: Array.prototype, name: Symbol.iterator, cost: costOfReceiver },
  ...["includes", "lastIndexOf", "split", "replace", "replaceAll", "trim", "match", "search"]
    .concat(["toLowerCase", "toUpperCase", "padEnd", "padStart", "normalize"])
    .map((name) => ({ owner: String.prototype, name, cost: costOfReceiver })),
  ...["exec", "test"].map((name) => ({ owner: RegExp.prototype, name, cost: costOfFirstArgument })),
  ...["keys", "values", "entries"].map((name) => ({ owner: Object, name, cost: costOfResult })),
  { owner: Object, name: "fromEntries", cost: costOfResult },
  ...["parse", "stringify"].map((name) => ({ owner: JSON, name, cost: costOfTexts })),
];

function withCountedBuiltins(run: () => unknown): number {
  let steps = 0;
  // False during `cost`, so that the built-in functions that `cost` calls are not counted.
  let isCounting = false;
  const originals = BUILT_INS.map(({ owner, name, cost }) => {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name) ?? {};
    const original = descriptor.value as Method;
    const value = function counted(this: unknown, ...args: unknown[]): unknown {
      const result = Reflect.apply(original, this, args);
      if (!isCounting) return result;
      isCounting = false;
      steps += 1 + cost(this, args, result);
      isCounting = true;
      return result;
    };
    return { owner, name, descriptor, counted: { ...descriptor, value } };
  });
  originals.forEach(({ owner, name, counted }) => {
    Object.defineProperty(owner, name, counted);
  });
  try {
    isCounting = true;
    run();
  } finally {
    isCounting = false;
    originals.forEach(({ owner, name, descriptor }) => {
      Object.defineProperty(owner, name, descriptor);
    });
  }
  return steps;
}
