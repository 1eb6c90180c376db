/** What `npm run bench:manager` is asked to do. */

export type Options = {
  readonly json: boolean;
  readonly quick: boolean;
  /** Context switches are counted for this long. */
  readonly idleSeconds: number;
  /** Every drain is ended by its deadline after this long. */
  readonly drainSeconds: number;
};

export const USAGE = "usage: npm run bench:manager [-- --json] [-- --quick]";

/** @returns undefined when a word is not known */
export function readOptions(words: readonly string[]): Options | undefined {
  if (words.some((word) => word !== "--json" && word !== "--quick")) return undefined;
  const quick = words.includes("--quick");
  return { json: words.includes("--json"), quick, idleSeconds: quick ? 10 : 30, drainSeconds: quick ? 15 : 60 };
}
