/** Runs cases concurrently in one process, because most cases only wait; defines the request and the results. */
import { realClock } from "../../../src/demo/clock.ts";
import { type CommandLine, requireProgram, type SkipContext } from "../install/program-of.ts";

export type RunRequest = {
  readonly envoys: Readonly<Record<string, CommandLine>>;
  readonly nativeManagerPath: string;
};

export type CaseResults<Result> = Readonly<Record<string, { readonly result: Result } | { readonly error: string }>>;

export const NODE_MANAGER = new URL("../../../src/manager/node-main.ts", import.meta.url).pathname;

export async function requireEnvoys(context: SkipContext): Promise<RunRequest["envoys"]> {
  return {
    "1.40": await requireProgram("envoy-1.40", context),
    "1.36": await requireProgram("envoy-1.36", context),
  };
}

type Queue<Case> = { readonly cases: readonly Case[]; readonly concurrency: number };

export async function runCases<Case, Result>(
  queues: readonly Queue<Case>[],
  nameOf: (testCase: Case) => string,
  runCase: (testCase: Case) => Promise<Result>,
): Promise<CaseResults<Result>> {
  const results: Record<string, CaseResults<Result>[string]> = {};
  const runSequentially = async (pending: Case[]) => {
    for (let testCase = pending.shift(); testCase !== undefined; testCase = pending.shift()) {
      results[nameOf(testCase)] = await runCase(testCase).then(
        (result) => ({ result }),
        (error: Error) => ({ error: error.stack ?? error.message }),
      );
      // The namespaces and the Envoy process of this case end asynchronously. The next case starts after this pause, without their load.
      await realClock.wait(100);
    }
  };
  await Promise.all(
    queues.flatMap(({ cases, concurrency }) => {
      const pending = [...cases];
      return Array.from({ length: concurrency }, () => runSequentially(pending));
    }),
  );
  return results;
}

export function requireResult<Result>(results: CaseResults<Result>, name: string): Result {
  const caseResult = results[name];
  if (caseResult === undefined) throw new Error(`case ${name} did not run`);
  if ("error" in caseResult) throw new Error(caseResult.error);
  return caseResult.result;
}
