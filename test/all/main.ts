/**
 * `npm run test:all [-- --landing] ["STEP"…]`: runs every suite in sequence, even after failures, and lists the failed
 * ones with the end of their logs.
 */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { AHEAD, type Asked, readAsked, STEPS, type Step, wordsOf } from "./steps.ts";

/** A long log keeps its end, since a runner prints its failures last. */
const KEPT_CHARACTERS = 20_000;

type Ended = { readonly name: string; readonly status: number; readonly end: string };

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const secondsSince = (atMs: number): string => `${Math.round((performance.now() - atMs) / 1_000)} s`;

function run(name: string, words: readonly string[], priority: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", ["run", ...words], { stdio: ["ignore", "pipe", "pipe"] });
    if (child.pid !== undefined) setPriority(child.pid, priority);
    let end = "";
    const take = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      to.write(chunk);
      end = (end + chunk.toString()).slice(-KEPT_CHARACTERS);
    };
    child.stdout.on("data", take(process.stdout));
    child.stderr.on("data", take(process.stderr));
    child.once("error", reject);
    child.once("close", (status) => resolve({ name, status: status ?? 1, end }));
  });
}

async function inTurn(asked: Asked): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  const last = STEPS.at(-1);
  const ahead = last !== undefined && asked.steps.includes(last) ? inAdvance(AHEAD) : undefined;
  for (const step of asked.steps) {
    if (step === last) await ahead;
    const startedAtMs = performance.now();
    const words = wordsOf(step, asked);
    print(`=== ${step.name}: npm run ${words.join(" ")}`);
    const one = await run(step.name, words, 0);
    print(`=== ${step.name}: ${one.status === 0 ? "ok" : "FAILED"}, ${secondsSince(startedAtMs)}`);
    ended.push(one);
  }
  return ended;
}

/** Its failure is reported by the step that needs it, which repeats the build. */
async function inAdvance({ name, words }: Step): Promise<void> {
  const startedAtMs = performance.now();
  const { status } = await run(name, words, constants.priority.PRIORITY_LOW);
  print(`=== ${name}: ${status === 0 ? "built" : "not built"} in ${secondsSince(startedAtMs)}`);
}

const asked = readAsked(process.argv.slice(2));
if ("message" in asked) {
  process.stderr.write(`${asked.message}\n`);
  process.exit(64);
}
const startedAtMs = performance.now();
const failed = (await inTurn(asked)).filter(({ status }) => status !== 0);
for (const { name, end } of failed) print(`=== ${name} FAILED, the end of what it printed:\n${end}`);
if (failed.length > 0) print(`failed: ${failed.map(({ name }) => name).join(", ")}`);
else print(`all steps passed in ${secondsSince(startedAtMs)}`);
process.exitCode = failed.length > 0 ? 1 : 0;
