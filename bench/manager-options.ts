/** Reads the options of `npm run bench:manager`. */

export type Options = {
  readonly json: boolean;
  readonly quick: boolean;
  readonly idleSeconds: number;
  readonly drainSeconds: number;
};

export const USAGE = "usage: npm run bench:manager [-- --json] [-- --quick]";

export function readOptions(args: readonly string[]): Options | undefined {
  if (args.some((arg) => arg !== "--json" && arg !== "--quick")) return undefined;
  const quick = args.includes("--quick");
  return { json: args.includes("--json"), quick, idleSeconds: quick ? 10 : 30, drainSeconds: quick ? 15 : 60 };
}
