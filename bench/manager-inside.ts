/** Runs the manager benchmark inside the namespaces of `manager.ts`: `node manager-inside.ts BUILDS.json [--json] [--quick]`. */
import { readFileSync } from "node:fs";
import { createNamespaceNetwork } from "../src/demo/network/namespace-network.ts";
import type { PodNetwork } from "../src/demo/network/pod-network.ts";
import { HOLDS_LIMIT } from "../src/manager/drain/hook-calls.ts";
import type { Build } from "./manager-builds.ts";
import { checkGoals } from "./manager-goals.ts";
import { type Options, readOptions, USAGE } from "./manager-options.ts";
import type { BuildResults } from "./manager-results.ts";
import {
  type DrainMeasurement,
  measureAfterCalls,
  measureDrain,
  measureHolds,
  measureIdle,
  measureStarts,
} from "./manager-scenarios.ts";
import { formatGoal, formatTable } from "./manager-text.ts";

const CONNECTIONS = [1, 100, 5_000];

// The pipe closes when the parent process ends.
process.stdin.resume().on("end", () => process.exit(1));
const options = readOptions(process.argv.slice(3));
if (options === undefined) throw new Error(USAGE);
const builds: readonly Build[] = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
process.exitCode = await measureAll(await createNamespaceNetwork(), builds, options);
process.stdin.destroy();

async function measureAll(network: PodNetwork, builds: readonly Build[], options: Options): Promise<number> {
  printProgress(`start until listening`, options);
  const starts = await measureStarts(builds);
  printProgress(`idle for ${options.idleSeconds} s`, options);
  const idle = await Promise.all(builds.map((build) => measureIdle(network, build, options.idleSeconds)));
  const managers = builds.filter(({ name }) => name !== "pause");
  const managerResults = await measureManagers(network, managers, options);
  const results = builds.map((build, index): BuildResults => {
    const idleResult = idle[index];
    if (idleResult === undefined) throw new Error(`${build.name} was not measured`);
    const manager = managerResults.get(build.name);
    return {
      build: build.name,
      bytes: build.bytes,
      strippedBytes: build.strippedBytes,
      threads: idleResult.threads,
      idle: idleResult.memory,
      idleSwitches: idleResult.switches,
      startMs: starts[build.name] ?? Number.NaN,
      ...(manager === undefined ? {} : { manager }),
    };
  });
  return report(results, options);
}

type ManagerResults = NonNullable<BuildResults["manager"]>;

async function measureManagers(
  network: PodNetwork,
  managers: readonly Build[],
  options: Options,
): Promise<ReadonlyMap<string, ManagerResults>> {
  const client = managers.find(({ name }) => name === "native")?.command[0] ?? "";
  const resultsByBuild = new Map<string, ManagerResults & { readonly drains: DrainMeasurement[] }>();
  printProgress(`${HOLDS_LIMIT} hooks held, 10000 calls`, options);
  for (const build of managers) {
    const memoryWithHolds = await measureHolds(network, build);
    resultsByBuild.set(build.name, {
      held: memoryWithHolds,
      called: await measureAfterCalls(network, build),
      drains: [],
    });
  }
  for (const connections of CONNECTIONS) {
    for (const build of managers) {
      printProgress(`${build.name} drains ${connections} connections for ${options.drainSeconds} s`, options);
      const drain = await measureDrain(network, build, { connections, seconds: options.drainSeconds, client });
      resultsByBuild.get(build.name)?.drains.push(drain);
    }
  }
  return resultsByBuild;
}

function report(results: readonly BuildResults[], options: Options): number {
  const goals = checkGoals(results);
  const missed = goals.filter(({ met }) => !met);
  if (options.json) {
    const { quick, idleSeconds, drainSeconds } = options;
    const passed = missed.length === 0;
    process.stdout.write(`${JSON.stringify({ quick, idleSeconds, drainSeconds, builds: results, goals, passed })}\n`);
  } else {
    if (options.quick) process.stdout.write("quick run: the goals are set for the longer times of a full run\n");
    process.stdout.write(`\n${formatTable(results, options)}\n\n${goals.map(formatGoal).join("\n")}\n`);
  }
  for (const { title, measured } of missed) process.stderr.write(`missed: ${title}: ${measured}\n`);
  return missed.length > 0 ? 1 : 0;
}

function printProgress(step: string, { json }: Options): void {
  if (!json) process.stdout.write(`measuring: ${step}\n`);
}
