/** Runs cases concurrently in one process, as most of them only wait; defines the request and the results. */
import { realClock } from "../../../src/demo/clock.ts";
import { type CommandLine, requiredProgram, type Skipping } from "../install/program-of.ts";

export type RunRequest = {
  readonly envoys: Readonly<Record<string, CommandLine>>;
  readonly native: string;
};

export type CaseResults<Result> = Readonly<Record<string, { readonly result: Result } | { readonly error: string }>>;

export const NODE_MANAGER = new URL("../../../src/manager/node-main.ts", import.meta.url).pathname;

export async function requiredEnvoys(context: Skipping): Promise<RunRequest["envoys"]> {
  return {
    "1.40": await requiredProgram("envoy-1.40", context),
    "1.36": await requiredProgram("envoy-1.36", context),
  };
}

type Queue<Case> = { readonly cases: readonly Case[]; readonly lanes: number };

export async function runAll<Case, Result>(
  queues: readonly Queue<Case>[],
  nameOf: (one: Case) => string,
  run: (one: Case) => Promise<Result>,
): Promise<CaseResults<Result>> {
  const results: Record<string, CaseResults<Result>[string]> = {};
  const lane = async (waiting: Case[]) => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      results[nameOf(one)] = await run(one).then(
        (result) => ({ result }),
        (error: Error) => ({ error: error.stack ?? error.message }),
      );
      // Leaves time for the namespaces and the Envoy of this case to end.
      await realClock.wait(100);
    }
  };
  await Promise.all(
    queues.flatMap(({ cases, lanes }) => {
      const waiting = [...cases];
      return Array.from({ length: lanes }, () => lane(waiting));
    }),
  );
  return results;
}

export function resultOf<Result>(results: CaseResults<Result>, name: string): Result {
  const one = results[name];
  if (one === undefined) throw new Error(`case ${name} did not run`);
  if ("error" in one) throw new Error(one.error);
  return one.result;
}
