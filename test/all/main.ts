/**
 * `npm run test:all [-- --landing] ["STEP"…]`: runs every suite in sequence, even after failures, and prints the end of the
 * failed suites' logs. With `--landing` it runs the shorter suites of `.ci/run`, which precede each merge.
 */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { EARLY_BUILD, npmArguments, readSelection, type Selection, STEPS, type Step } from "./steps.ts";

/** Length of the printed end of a log: test runners print their failures last. */
const LOG_TAIL_CHARACTERS = 20_000;

type StepResult = { readonly name: string; readonly status: number; readonly logTail: string };

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const secondsSince = (atMs: number): string => `${Math.round((performance.now() - atMs) / 1_000)} s`;

function run(name: string, npmRun: readonly string[], priority: number): Promise<StepResult> {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", ["run", ...npmRun], { stdio: ["ignore", "pipe", "pipe"] });
    if (child.pid !== undefined) setPriority(child.pid, priority);
    let logTail = "";
    const collectOutput = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      to.write(chunk);
      logTail = (logTail + chunk.toString()).slice(-LOG_TAIL_CHARACTERS);
    };
    child.stdout.on("data", collectOutput(process.stdout));
    child.stderr.on("data", collectOutput(process.stderr));
    child.once("error", reject);
    child.once("close", (status) => resolve({ name, status: status ?? 1, logTail: logTail }));
  });
}

async function runInSequence(selection: Selection): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  const lastStep = STEPS.at(-1);
  const earlyBuild =
    lastStep !== undefined && selection.steps.includes(lastStep) ? runEarlyBuild(EARLY_BUILD) : undefined;
  for (const step of selection.steps) {
    if (step === lastStep) await earlyBuild;
    const startedAtMs = performance.now();
    const npmRun = npmArguments(step, selection);
    print(`=== ${step.name}: npm run ${npmRun.join(" ")}`);
    const result = await run(step.name, npmRun, 0);
    print(`=== ${step.name}: ${result.status === 0 ? "ok" : "FAILED"}, ${secondsSince(startedAtMs)}`);
    results.push(result);
  }
  return results;
}

/** Ignores a failed build: the step that needs the programs builds them again, and reports the failure. */
async function runEarlyBuild({ name, npmRun }: Step): Promise<void> {
  const startedAtMs = performance.now();
  const { status } = await run(name, npmRun, constants.priority.PRIORITY_LOW);
  print(`=== ${name}: ${status === 0 ? "built" : "not built"} in ${secondsSince(startedAtMs)}`);
}

const selection = readSelection(process.argv.slice(2));
if ("message" in selection) {
  process.stderr.write(`${selection.message}\n`);
  process.exit(64);
}
const startedAtMs = performance.now();
const failedSteps = (await runInSequence(selection)).filter(({ status }) => status !== 0);
for (const { name, logTail } of failedSteps) print(`=== ${name} FAILED, the end of its output:\n${logTail}`);
if (failedSteps.length > 0) print(`failed: ${failedSteps.map(({ name }) => name).join(", ")}`);
else print(`all steps passed in ${secondsSince(startedAtMs)}`);
process.exitCode = failedSteps.length > 0 ? 1 : 0;
