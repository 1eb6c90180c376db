/**
 * `npm run test:stability`: repeats the suite under four conditions (idle host, busy host, random pauses of all processes of the
 * suite, random order of the tests) and prints the failed tests with their counts. `--busy=2` sets the number of runs under one
 * condition and omits the other conditions. `--suite=test:programs` selects another suite than `npm test`. The test runner gets
 * the arguments after `--`.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { CONDITIONS } from "./conditions.ts";
import { type RunResult, runOnce } from "./one-run.ts";
import { failuresByTest, stabilityTable } from "./stability-table.ts";

const TEXT = { type: "string" } as const;
const options = Object.fromEntries([...CONDITIONS.map(({ name }) => name), "suite"].map((name) => [name, TEXT]));
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const selection = { suite: values["suite"] ?? "test", args: positionals };
const hasSelection = CONDITIONS.some(({ name }) => values[name] !== undefined);
const plan = CONDITIONS.map((condition) => {
  const value = values[condition.name];
  const runs = Number(value ?? (hasSelection ? 0 : condition.runs));
  if (!Number.isSafeInteger(runs) || runs < 0) throw new Error(`--${condition.name}=${value}: not a number of runs`);
  return { condition, runs };
});

const results: RunResult[] = [];
for (const { condition, runs } of plan) {
  for (let run = 1; run <= runs; run += 1) {
    const load = loadavg()[0]?.toFixed(1);
    const result = await runOnce(condition, selection);
    results.push(result);
    const { tests, failures, seconds } = result;
    process.stdout.write(
      `${new Date().toISOString()} ${condition.name} ${run} of ${runs}: ${failures.length} of ${tests} failed, ${Math.round(seconds)} s, load before it ${load}\n`,
    );
    for (const { test } of failures) process.stdout.write(`  ${test}\n`);
  }
}
process.stdout.write(`\n${stabilityTable(results)}\n`);
for (const words of failuresByTest(results)) process.stdout.write(`\n${words}\n`);
if (results.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
