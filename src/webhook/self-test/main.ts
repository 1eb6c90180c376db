/** `lastcall self-test`: what the chart's test Pod runs. Speaks with the API server as that Pod's account. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiRunner } from "../../api-server/api-runner.ts";
import { connectionTo } from "../../api-server/connection.ts";
import { formatDuration } from "../../contract/duration.ts";
import { EXIT_FAULT, EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { Fault } from "../../fault.ts";
import { problemText } from "../../settings/read-settings.ts";
import { readOptions, SELF_TEST_HELP, type SelfTestOptions } from "./options.ts";
import { selfTest } from "./self-test.ts";

/** Answers the exit status: 0 injection works, 1 it does not, 64 wrong flags. */
export async function main(args: readonly string[]): Promise<number> {
  const { settings: options, problems, help } = readOptions(args);
  if (help) {
    process.stdout.write(SELF_TEST_HELP);
    return EXIT_OK;
  }
  for (const problem of problems) process.stderr.write(`lastcall self-test: ${problemText(problem)}\n`);
  if (problems.length > 0) return EXIT_USAGE;
  try {
    return (await run(options)) ? EXIT_OK : EXIT_FAULT;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`lastcall self-test: ${error.message}\n`);
    return EXIT_FAULT;
  }
}

async function run(options: SelfTestOptions): Promise<boolean> {
  const api = apiRunner(await connectionTo({ kubeconfigFile: options.kubeconfigFile }));
  try {
    const works = await selfTest(options, {
      ask: api.ask,
      sleep: (ms) => sleep(ms),
      nowMs: () => performance.now(),
      say: (sentence) => void process.stderr.write(`lastcall self-test: ${sentence}\n`),
    });
    if (works) process.stdout.write(`${proofOf(options)}\n`);
    else process.stderr.write(`lastcall self-test: injection did not work within ${formatDuration(options.waitMs)}.\n`);
    return works;
  } finally {
    api.close();
  }
}

function proofOf({ namespace, startsPod }: SelfTestOptions): string {
  const injected = `A Pod that opts in is injected in namespace ${namespace}, and one that opts out is not.`;
  return startsPod ? `${injected}\nThe manager's image was pulled there, and runs.` : injected;
}
