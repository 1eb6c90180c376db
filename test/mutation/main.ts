/**
 * `npm run test:mutation [-- [--incremental] ROOM…]`: runs Stryker on the rooms of `rooms.ts`
 * and prints the survived mutants. Fails if fewer than {@link MIN_PERCENT} of all mutants are killed.
 * With `--incremental` it repeats only the mutants of changed source files and changed tests; a change of a file that they import has no effect.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installLocked } from "../../native/build/install-locked.ts";
import { type MutationReport, percentOf, type Score, scoreLine, scoreOf, sumOf, survivorLines } from "./report.ts";
import { type MutatedRoom, ROOMS } from "./rooms.ts";

const MIN_PERCENT = 85;
const ROOT = join(import.meta.dirname, "../..");
const BUILD = join(ROOT, "build/mutation");
/** Packages that only this command needs. */
const TOOL = join(import.meta.dirname, "tool");
const INCREMENTAL = "--incremental";
const STRYKER = join(TOOL, "node_modules/@stryker-mutator/core/bin/stryker.js");

function runMutation({ name, source, tests }: MutatedRoom): MutationReport {
  const settingsFile = join(BUILD, `${name}.settings.json`);
  const fileName = join(BUILD, `${name}.json`);
  const options = {
    testRunner: "vitest",
    vitest: { configFile: "test/mutation/vitest.config.ts" },
    mutate: source,
    reporters: ["progress", "json"],
    jsonReporter: { fileName },
    incremental: true,
    incrementalFile: join(BUILD, `${name}.incremental.json`),
    // With `force` every mutant runs, and the incremental file is still written.
    force: !process.argv.includes(INCREMENTAL),
    // Each mutant runs only against the tests that reach it, by the coverage of one run without mutants.
    coverageAnalysis: "perTest",
    ignoreStatic: true,
    tempDirName: "build/mutation/copies",
    // Stryker's preprocessing of tsconfig files calls a compiler API that no longer exists.
    tsconfigFile: "none",
    disableTypeChecks: false,
  };
  writeFileSync(settingsFile, JSON.stringify(options, null, 2));
  const env = { ...process.env, LASTCALL_MUTATED_TESTS: tests.join(" ") };
  const { status } = spawnSync(process.execPath, [STRYKER, "run", settingsFile], { cwd: ROOT, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`${name}: the mutation runner ended with ${status}`);
  return JSON.parse(readFileSync(fileName, "utf8")) as MutationReport;
}

function scoreRoom(room: MutatedRoom): Score {
  const report = runMutation(room);
  for (const line of survivorLines(report)) process.stdout.write(`survived: ${line}\n`);
  const files = Object.entries(report.files).map(([file, { mutants }]) => ({ file, score: scoreOf(mutants) }));
  for (const { file, score } of files) process.stdout.write(`${scoreLine(file, score)}\n`);
  return sumOf(files.map(({ score }) => score));
}

const names = process.argv.slice(2).filter((argument) => argument !== INCREMENTAL);
const unknown = names.find((name) => !ROOMS.some((room) => room.name === name));
if (unknown !== undefined) {
  process.stderr.write(`There is no room "${unknown}". Rooms: ${ROOMS.map(({ name }) => name).join(", ")}.\n`);
  process.exit(64);
}
mkdirSync(BUILD, { recursive: true });
await installLocked(TOOL);
const rooms = ROOMS.filter(({ name }) => names.length === 0 || names.includes(name));
const scores = rooms.map((room) => ({ name: room.name, score: scoreRoom(room) }));
for (const { name, score } of scores) process.stdout.write(`${scoreLine(`room ${name}`, score)}\n`);
const total = sumOf(scores.map(({ score }) => score));
process.stdout.write(`${scoreLine("all rooms", total)}\n`);
if (percentOf(total) < MIN_PERCENT) process.exitCode = 1;
