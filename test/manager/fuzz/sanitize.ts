/**
 * `npm run test:sanitize [-- --seconds=75] [--seed=N] [--only=PART,PART]`: the manager under the address, leak and
 * undefined-behaviour sanitizers, fed with damaged input. A seed repeats the input; what failed is kept in build/fuzz.
 * --only=cases puts it to the manager's process cases instead.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { buildManager, buildProgram } from "../../../native/build/build.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { CALLER, hostileAnswers } from "./hostile-answers.ts";
import { httpMutants } from "./http-mutants.ts";
import { PARSERS_PROGRAM, parserComparison } from "./parser-comparison.ts";
import { processCases } from "./process-cases.ts";
import { Finding, type Part } from "./sanitize-part.ts";
import { endAll, endAllWhenInterrupted, FUZZ_FOLDER } from "./sanitized-process.ts";
import { createRandom, seedOf } from "./seeded-random.ts";
import { DRAINS_PROGRAM, virtualDay } from "./virtual-day.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;
const DEFAULT_SECONDS = 75;

const PARTS: Readonly<Record<string, Part>> = {
  parsers: parserComparison,
  answers: hostileAnswers,
  requests: httpMutants,
  arguments: argumentMutants,
  drains: virtualDay,
  cases: processCases,
};
/** The process cases measure times, which the sanitizers stretch: they are asked for with --only=cases. */
const BY_DEFAULT = Object.keys(PARTS).filter((name) => name !== "cases");
/** The others take what they take. */
const TIMED = ["parsers", "answers", "requests", "arguments"];

type Asked = { readonly seed: number; readonly seconds: number; readonly only: readonly string[] };

function readArguments(words: readonly string[]): Asked | string {
  let seed = Math.floor(Math.random() * 0xffffffff);
  let seconds = DEFAULT_SECONDS;
  let only = BY_DEFAULT;
  for (const word of words) {
    const [, flag, value = ""] = /^--(seed|seconds|only)=(.+)$/.exec(word) ?? [];
    if (flag === "only") only = value.split(",");
    else if (flag === "seed" && /^[0-9]{1,10}$/.test(value)) seed = Number(value);
    else if (flag === "seconds" && /^[0-9]{1,6}$/.test(value)) seconds = Number(value);
    else return `${word} is not known; known are --seed=NUMBER, --seconds=NUMBER and --only=PART,PART`;
  }
  const unknown = only.find((name) => PARTS[name] === undefined);
  return unknown === undefined
    ? { seed, seconds, only }
    : `--only knows ${Object.keys(PARTS).join(", ")}, not ${unknown}`;
}

async function runPart(name: string, asked: Asked): Promise<boolean> {
  const beganMs = performance.now();
  const share = asked.seconds / Math.max(1, asked.only.filter((one) => TIMED.includes(one)).length);
  const budget = { random: createRandom(seedOf(asked.seed, name)), untilMs: beganMs + share * 1_000 };
  try {
    const told = (await PARTS[name]?.(budget)) ?? "";
    process.stdout.write(`${name}: ok in ${Math.round((performance.now() - beganMs) / 1_000)} s, ${told}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    const kept = `${FUZZ_FOLDER}/${name}-${asked.seed}`;
    writeFileSync(`${kept}.input`, error.input);
    writeFileSync(`${kept}.txt`, `${error.message}\n`);
    process.stdout.write(`${name}: FAILED; ${error.message.slice(0, 3_000)}\n`);
    process.stdout.write(`kept in ${kept}.input and .txt; again with --only=${name} --seed=${asked.seed}\n`);
    return false;
  }
}

async function run(asked: Asked): Promise<boolean> {
  mkdirSync(FUZZ_FOLDER, { recursive: true });
  await buildManager("sanitize");
  const folder = "test/manager/fuzz";
  await buildProgram("sanitize", { source: `${folder}/native-parsers-main.ts`, bindsLibc: false }, PARSERS_PROGRAM);
  await buildProgram("sanitize", { source: `${folder}/native-caller-main.ts`, bindsLibc: false }, CALLER);
  await buildProgram("sanitize", { source: `${folder}/soak-main.ts`, bindsLibc: true }, DRAINS_PROGRAM);
  process.stdout.write(`seed ${asked.seed}\n`);
  let sound = true;
  for (const name of asked.only) sound = (await runPart(name, asked)) && sound;
  return sound;
}

const asked = readArguments(process.argv.slice(2));
if (typeof asked === "string") {
  process.stderr.write(`test:sanitize: ${asked}\n`);
  process.exit(EXIT_USAGE);
}
endAllWhenInterrupted();
try {
  if (!(await run(asked))) process.exitCode = EXIT_FAILED;
} finally {
  endAll();
}
