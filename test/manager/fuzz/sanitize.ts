/**
 * `npm run test:sanitize [-- --seconds=75] [--seed=N] [--only=PART,PART]`: runs the manager with damaged input under the
 * address, leak and undefined-behaviour sanitizers, and the parsers of the relay and the webhook. A seed reproduces the
 * input; failures are stored in build/fuzz. --only=cases runs the manager's process tests instead.
 * `npm run test:fuzz [-- --share=0.1]` runs the full number of cases, or a share of it, without a time limit.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { buildManager, buildProgram } from "../../../native/build/build.ts";
import { fuzzCredentials, fuzzDocuments, fuzzInjection } from "../../fuzz/parts.ts";
import { preloadExchanges } from "../../preload/exchanges.ts";
import { testArgumentMutants } from "./argument-mutants.ts";
import { CALLER_PROGRAM, testHostileResponses } from "./hostile-answers.ts";
import { RELAY_CLIENT_PROGRAM, testHostileRelays } from "./hostile-relays.ts";
import { testHttpMutants } from "./http-mutants.ts";
import { compareParsers, PARSERS_PROGRAM } from "./parser-comparison.ts";
import { runProcessTests } from "./process-cases.ts";
import { type Budget, Finding, type Part } from "./sanitize-part.ts";
import { FUZZ_FOLDER, killAll, killAllWhenInterrupted } from "./sanitized-process.ts";
import { createRandom, seedOf } from "./seeded-random.ts";
import { DRAINS_PROGRAM, drainForVirtualDay } from "./virtual-day.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;
const DEFAULT_SECONDS = 75;

type PartEntry = {
  readonly part: Part;
  /** Number of cases in a full run; absent for parts whose size is fixed. */
  readonly caseCount?: number;
};

const PARTS: Readonly<Record<string, PartEntry>> = {
  parsers: { part: compareParsers, caseCount: 300_000 },
  answers: { part: testHostileResponses, caseCount: 6_000 },
  relay: { part: testHostileRelays, caseCount: 2_400 },
  requests: { part: testHttpMutants, caseCount: 46_000 },
  arguments: { part: testArgumentMutants, caseCount: 1_000 },
  documents: { part: fuzzDocuments, caseCount: 120_000 },
  credentials: { part: fuzzCredentials, caseCount: 30_000 },
  pods: { part: fuzzInjection, caseCount: 20_000 },
  /** A case consists of eight requests, so a full run sends ten million requests. */
  preload: { part: preloadExchanges, caseCount: 1_300_000 },
  drains: { part: drainForVirtualDay },
  cases: { part: runProcessTests },
};
/** The process tests measure times, which the sanitizers extend, so they run only with --only=cases. */
const DEFAULT_PARTS = Object.keys(PARTS).filter((name) => name !== "cases");

type Options = {
  readonly seed: number;
  readonly seconds: number;
  /** Fraction of a full run; if undefined, `seconds` is the limit. */
  readonly share: number | undefined;
  readonly only: readonly string[];
};

function readArguments(args: readonly string[]): Options | string {
  let seed = Math.floor(Math.random() * 0xffffffff);
  let seconds = DEFAULT_SECONDS;
  let share: number | undefined;
  let only = DEFAULT_PARTS;
  for (const arg of args) {
    const [, flag, value = ""] = /^--(seed|seconds|share|only)=(.+)$/.exec(arg) ?? [];
    if (flag === "only") only = value.split(",");
    else if (flag === "seed" && /^[0-9]{1,10}$/.test(value)) seed = Number(value);
    else if (flag === "seconds" && /^[0-9]{1,6}$/.test(value)) seconds = Number(value);
    else if (flag === "share" && /^(1|0?\.[0-9]{1,4})$/.test(value)) share = Number(value);
    else return `${arg} is unknown; use --seed=NUMBER, --seconds=NUMBER, --share=0.1 and --only=PART,PART`;
  }
  const unknown = only.find((name) => PARTS[name] === undefined);
  return unknown === undefined
    ? { seed, seconds, share, only }
    : `${unknown} is not a part; use ${Object.keys(PARTS).join(", ")}`;
}

async function runPart(name: string, options: Options): Promise<boolean> {
  const startedMs = performance.now();
  const budget = {
    random: createRandom(seedOf(options.seed, name)),
    shouldContinue: limitOf(name, options, startedMs),
  };
  try {
    const summary = (await PARTS[name]?.part(budget)) ?? "";
    process.stdout.write(`${name}: ok in ${Math.round((performance.now() - startedMs) / 1_000)} s, ${summary}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    const path = `${FUZZ_FOLDER}/${name}-${options.seed}`;
    writeFileSync(`${path}.input`, error.input);
    writeFileSync(`${path}.txt`, `${error.message}\n`);
    process.stdout.write(`${name}: FAILED; ${error.message.slice(0, 3_000)}\n`);
    process.stdout.write(`stored in ${path}.input and .txt; reproduce with --only=${name} --seed=${options.seed}\n`);
    return false;
  }
}

/** Limits a part to `share` of its cases or, without `share`, to as many seconds as each other selected part. */
function limitOf(name: string, { share, seconds, only }: Options, startedMs: number): Budget["shouldContinue"] {
  if (share !== undefined) return (done) => done < (PARTS[name]?.caseCount ?? 0) * share;
  const countedParts = only.filter((one) => PARTS[one]?.caseCount !== undefined).length;
  const untilMs = startedMs + (seconds * 1_000) / Math.max(1, countedParts);
  return () => performance.now() < untilMs;
}

async function run(options: Options): Promise<boolean> {
  mkdirSync(FUZZ_FOLDER, { recursive: true });
  await buildManager("sanitize");
  const folder = "test/manager/fuzz";
  await buildProgram("sanitize", { source: `${folder}/native-parsers-main.ts`, bindsLibc: false }, PARSERS_PROGRAM);
  await buildProgram("sanitize", { source: `${folder}/native-caller-main.ts`, bindsLibc: false }, CALLER_PROGRAM);
  await buildProgram("sanitize", { source: `${folder}/native-relay-main.ts`, bindsLibc: false }, RELAY_CLIENT_PROGRAM);
  await buildProgram("sanitize", { source: `${folder}/soak-main.ts`, bindsLibc: true }, DRAINS_PROGRAM);
  process.stdout.write(`seed ${options.seed}\n`);
  let succeeded = true;
  for (const name of options.only) succeeded = (await runPart(name, options)) && succeeded;
  return succeeded;
}

const options = readArguments(process.argv.slice(2));
if (typeof options === "string") {
  process.stderr.write(`test:sanitize: ${options}\n`);
  process.exit(EXIT_USAGE);
}
killAllWhenInterrupted();
try {
  if (!(await run(options))) process.exitCode = EXIT_FAILED;
} finally {
  killAll();
}
