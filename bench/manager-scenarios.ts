/** Measures a manager in several scenarios. Builds take turns, so that other load of the host affects all of them. */
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { PodNetwork } from "../src/demo/network/pod-network.ts";
import { HOLDS_LIMIT } from "../src/manager/drain/hook-calls.ts";
import type { Build } from "./manager-builds.ts";
import { countContextSwitches, countThreads, type Memory, readMemory } from "./manager-cost.ts";
import { endProcess, startPod, waitForOutput } from "./manager-pod.ts";
import { readCpuMicroseconds } from "./process-cost.ts";

const SETTLE_MS = 5_000;
const HOLDS_PER_CONTAINER = 4;
const CONTAINERS = HOLDS_LIMIT / HOLDS_PER_CONTAINER;
const CALLS = 10_000;
const CONCURRENT_CALLERS = 10;
const START_ROUNDS = 21;
/** With these flags a drain ends only at its deadline, so the manager does not sample connections. */
const DEADLINE_ONLY_FLAGS = ["--drained-when=deadline", "--drain-delay=60m", "--drain-timeout=60m"];

export type IdleMeasurement = { readonly memory: Memory; readonly threads: number; readonly switches: number };

export async function measureIdle(network: PodNetwork, build: Build, seconds: number): Promise<IdleMeasurement> {
  const pod = await startPod(await network.attach(), build, []);
  try {
    await pause(SETTLE_MS);
    const switchesBefore = countContextSwitches(pod.pid);
    await pause(seconds * 1_000);
    const switches = countContextSwitches(pod.pid) - switchesBefore;
    return { memory: readMemory(pod.pid), threads: countThreads(pod.pid), switches };
  } finally {
    await pod.end();
  }
}

export async function measureHolds(network: PodNetwork, build: Build): Promise<Memory> {
  const containers = Array.from({ length: CONTAINERS }, (_, n) => `c${n}`);
  const hooks = containers.map((container) => `${container}:app`).join(",");
  const pod = await startPod(await network.attach(), build, [...DEADLINE_ONLY_FLAGS, `--hooks=${hooks}`]);
  try {
    let answeredHooks = 0;
    for (const container of containers) {
      for (let n = 0; n < HOLDS_PER_CONTAINER; n += 1) {
        const onEnd = () => {
          answeredHooks += 1;
        };
        pod.call(`prestop/${container}`).then(onEnd, onEnd);
      }
    }
    await pause(SETTLE_MS);
    if (answeredHooks > 0) throw new Error(`${build.name}: ${answeredHooks} of the hooks were answered early`);
    return readMemory(pod.pid);
  } finally {
    await pod.end();
  }
}

export async function measureAfterCalls(network: PodNetwork, build: Build): Promise<Memory> {
  const pod = await startPod(await network.attach(), build, []);
  try {
    let remainingCalls = CALLS;
    const callRepeatedly = async (): Promise<void> => {
      while (remainingCalls > 0) {
        remainingCalls -= 1;
        await pod.call("status");
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_CALLERS }, callRepeatedly));
    await pause(SETTLE_MS);
    return readMemory(pod.pid);
  } finally {
    await pod.end();
  }
}

export type DrainMeasurement = { readonly connections: number; readonly seconds: number; readonly shareOfCore: number };

/** Measures a drain that open requests extend to its deadline. @param client native manager that runs the preStop hook */
export async function measureDrain(
  network: PodNetwork,
  build: Build,
  drain: { readonly connections: number; readonly seconds: number; readonly client: string },
): Promise<DrainMeasurement> {
  const flags = ["--drain-delay=1s", `--drain-timeout=${drain.seconds - 1}s`];
  const pod = await startPod(await network.attach(), build, flags);
  try {
    const closeConnections = await pod.openBusyConnections(drain.connections);
    const cpuBefore = readCpuMicroseconds(pod.pid);
    const startMs = performance.now();
    const outcome = await pod.drain(drain.client);
    const elapsedMs = performance.now() - startMs;
    const cpuMs = (readCpuMicroseconds(pod.pid) - cpuBefore) / 1_000;
    closeConnections();
    if (outcome !== "timeout") throw new Error(`${build.name}: the drain ended as "${outcome}" instead of "timeout"`);
    return { connections: drain.connections, seconds: elapsedMs / 1_000, shareOfCore: cpuMs / elapsedMs };
  } finally {
    await pod.end();
  }
}

/** @returns milliseconds from the spawn of the process to its line "listening": the median, per build */
export async function measureStarts(builds: readonly Build[]): Promise<Readonly<Record<string, number>>> {
  const timesMs = new Map<string, number[]>(builds.map(({ name }) => [name, []]));
  for (let round = 0; round < START_ROUNDS; round += 1) {
    for (const build of builds) timesMs.get(build.name)?.push(await startOnce(build));
  }
  return Object.fromEntries([...timesMs].map(([name, times]) => [name, median(times)]));
}

async function startOnce(build: Build): Promise<number> {
  const [program = "", ...args] = [...build.command, "serve"];
  const startMs = performance.now();
  const child = spawn(program, args, { env: { LASTCALL_TOKEN: "bench" }, stdio: ["ignore", "pipe", "inherit"] });
  await waitForOutput(child, '"listening"');
  const elapsedMs = performance.now() - startMs;
  await endProcess(child);
  return elapsedMs;
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
