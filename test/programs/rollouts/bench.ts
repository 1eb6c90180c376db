/**
 * `npm run bench:rollouts`: runs 20 rollouts of each protocol at 500 requests a second, for every kind of client, and compares
 * lastcall with `preStop: sleep 5`. Takes about an hour; `--only=TEXT` runs the scenarios whose names contain the text. Needs
 * network namespaces.
 */
import { join } from "node:path";
import { detectNamespaces } from "../../../src/demo/network/namespace-network.ts";
import { findProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { BENCH_SCENARIOS, type RolloutScenario, scenarioName } from "./rollout-scenarios.ts";
import { OVER_WAIT_GOAL_MS, type RolloutsLine } from "./rollouts-checks.ts";
import { losslessTable, lossyTable } from "./rollouts-page.ts";
import { ENVOY, runScenario } from "./scenario-run.ts";
import { sleepTable } from "./sleep-page.ts";
import { SLEEP_SCENARIOS } from "./sleep-scenarios.ts";

const nameFilter = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length) ?? "";
const allScenarios = [...BENCH_SCENARIOS, ...SLEEP_SCENARIOS];
const scenarios = allScenarios.filter((scenario) => scenarioName(scenario).includes(nameFilter));
const unknownArguments = process.argv.slice(2).filter((arg) => !arg.startsWith("--only="));
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../../../build/compile-cache");
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

const namespaces = detectNamespaces();
if (unknownArguments.length > 0) reportError(`got "${unknownArguments.join(" ")}", expected nothing or --only=TEXT`);
else if (scenarios.length === 0)
  reportError(`--only got "${nameFilter}", expected a part of: ${allScenarios.map(scenarioName).join("; ")}`);
else if (!namespaces.supported) reportError(`network namespaces are not available: ${namespaces.reason}`);
else await runAll();

async function runAll(): Promise<void> {
  const lines: RolloutsLine[] = [];
  for (const scenario of scenarios) {
    if (stop.signal.aborted) return;
    await run(scenario, lines).catch((error: unknown) => reportError(`${scenarioName(scenario)}: ${String(error)}`));
  }
  for (const [group, buildTable] of [
    [lines.filter((line) => line.promised), losslessTable],
    [lines.filter((line) => !line.promised && !isSleepLine(line)), lossyTable],
    [lines.filter(isSleepLine), (sleepLines: readonly RolloutsLine[]) => sleepTable(SLEEP_SCENARIOS, sleepLines)],
  ] as const)
    if (group.length > 0) process.stdout.write(`\n${buildTable(group)}\n`);
}

function isSleepLine({ system }: RolloutsLine): boolean {
  return SLEEP_SCENARIOS.some((scenario) => scenarioName(scenario) === system);
}

async function run(scenario: RolloutScenario, lines: RolloutsLine[]): Promise<void> {
  const envoy = scenario.driver === "envoy" ? await findProgram(ENVOY) : undefined;
  if (envoy?.kind === "missing") return reportError(envoy.reason);
  const { line, failures } = await runScenario(scenario, envoy, { signal: stop.signal, skip: fail });
  await recordResult(line);
  process.stdout.write(
    `${line.system}: over-wait at most ${OVER_WAIT_GOAL_MS} ms: ${line.withinGoal} of ${line.drains} drains; the longest: ${line.longestWhy}\n`,
  );
  lines.push(line);
  for (const failure of failures) reportError(`${line.system}: ${failure}`);
}

function fail(reason: string): never {
  throw new Error(reason);
}

function reportError(message: string): void {
  process.stderr.write(`bench:rollouts: ${message}\n`);
  process.exitCode = 1;
}
