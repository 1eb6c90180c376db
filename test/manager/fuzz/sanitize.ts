/**
 * `npm run test:sanitize [-- --seconds=75] [--seed=N] [--only=PART,PART]`: the manager under the address, leak and
 * undefined-behaviour sanitizers, fed with damaged input, and the readers of relay and webhook beside it. A seed repeats
 * the input; what failed is kept in build/fuzz. --only=cases puts it to the manager's process cases instead.
 * `npm run test:fuzz [-- --share=0.1]` tries as much as a whole review does, or a share of it, however long that takes.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { buildManager, buildProgram } from "../../../native/build/build.ts";
import { changedCredentials, damagedDocuments, randomPods } from "../../fuzz/parts.ts";
import { preloadExchanges } from "../../preload/exchanges.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { CALLER, hostileAnswers } from "./hostile-answers.ts";
import { hostileRelays, RELAY_CLIENT } from "./hostile-relays.ts";
import { httpMutants } from "./http-mutants.ts";
import { PARSERS_PROGRAM, parserComparison } from "./parser-comparison.ts";
import { processCases } from "./process-cases.ts";
import { type Budget, Finding, type Part } from "./sanitize-part.ts";
import { endAll, endAllWhenInterrupted, FUZZ_FOLDER } from "./sanitized-process.ts";
import { createRandom, seedOf } from "./seeded-random.ts";
import { DRAINS_PROGRAM, virtualDay } from "./virtual-day.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;
const DEFAULT_SECONDS = 75;

type Row = {
  readonly part: Part;
  /** What a whole review tries; parts without a number take what they take. */
  readonly whole?: number;
};

const PARTS: Readonly<Record<string, Row>> = {
  parsers: { part: parserComparison, whole: 300_000 },
  answers: { part: hostileAnswers, whole: 6_000 },
  relay: { part: hostileRelays, whole: 2_400 },
  requests: { part: httpMutants, whole: 46_000 },
  arguments: { part: argumentMutants, whole: 1_000 },
  documents: { part: damagedDocuments, whole: 120_000 },
  credentials: { part: changedCredentials, whole: 30_000 },
  pods: { part: randomPods, whole: 20_000 },
  /** Eight requests in each: ten million steps. */
  preload: { part: preloadExchanges, whole: 1_300_000 },
  drains: { part: virtualDay },
  cases: { part: processCases },
};
/** The process cases measure times, which the sanitizers stretch: they are asked for with --only=cases. */
const BY_DEFAULT = Object.keys(PARTS).filter((name) => name !== "cases");

type Asked = {
  readonly seed: number;
  readonly seconds: number;
  /** Of a whole review; without it the seconds decide. */
  readonly share: number | undefined;
  readonly only: readonly string[];
};

function readArguments(words: readonly string[]): Asked | string {
  let seed = Math.floor(Math.random() * 0xffffffff);
  let seconds = DEFAULT_SECONDS;
  let share: number | undefined;
  let only = BY_DEFAULT;
  for (const word of words) {
    const [, flag, value = ""] = /^--(seed|seconds|share|only)=(.+)$/.exec(word) ?? [];
    if (flag === "only") only = value.split(",");
    else if (flag === "seed" && /^[0-9]{1,10}$/.test(value)) seed = Number(value);
    else if (flag === "seconds" && /^[0-9]{1,6}$/.test(value)) seconds = Number(value);
    else if (flag === "share" && /^(1|0?\.[0-9]{1,4})$/.test(value)) share = Number(value);
    else return `${word} is not known; known are --seed=NUMBER, --seconds=NUMBER, --share=0.1 and --only=PART,PART`;
  }
  const unknown = only.find((name) => PARTS[name] === undefined);
  return unknown === undefined
    ? { seed, seconds, share, only }
    : `--only knows ${Object.keys(PARTS).join(", ")}, not ${unknown}`;
}

async function runPart(name: string, asked: Asked): Promise<boolean> {
  const beganMs = performance.now();
  const budget = { random: createRandom(seedOf(asked.seed, name)), goesOn: limitOf(name, asked, beganMs) };
  try {
    const told = (await PARTS[name]?.part(budget)) ?? "";
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

/** By number, or by an equal part of the seconds. */
function limitOf(name: string, { share, seconds, only }: Asked, beganMs: number): Budget["goesOn"] {
  if (share !== undefined) return (done) => done < (PARTS[name]?.whole ?? 0) * share;
  const counted = only.filter((one) => PARTS[one]?.whole !== undefined).length;
  const untilMs = beganMs + (seconds * 1_000) / Math.max(1, counted);
  return () => performance.now() < untilMs;
}

async function run(asked: Asked): Promise<boolean> {
  mkdirSync(FUZZ_FOLDER, { recursive: true });
  await buildManager("sanitize");
  const folder = "test/manager/fuzz";
  await buildProgram("sanitize", { source: `${folder}/native-parsers-main.ts`, bindsLibc: false }, PARSERS_PROGRAM);
  await buildProgram("sanitize", { source: `${folder}/native-caller-main.ts`, bindsLibc: false }, CALLER);
  await buildProgram("sanitize", { source: `${folder}/native-relay-main.ts`, bindsLibc: false }, RELAY_CLIENT);
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
