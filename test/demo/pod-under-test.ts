/** Builds Pods with small shell scripts as containers, and a Pod runner that starts them on loopback addresses. */
import { expect } from "vitest";
import { realClock } from "../../src/demo/clock.ts";
import { createLoopbackNetwork } from "../../src/demo/network/loopback-network.ts";
import { createPodRunner, type PodRunner } from "../../src/demo/pods/pod-runner.ts";
import { createProcessTable } from "../../src/demo/pods/process-table.ts";
import type { RunningPod } from "../../src/demo/pods/running-pod.ts";
import { eventually } from "../time/eventually.ts";

/** Exits at SIGTERM. Prints `up` after the trap is set. */
export const EXITS_ON_SIGTERM = "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done";
/** Ignores SIGTERM. */
export const IGNORES_SIGTERM = "trap '' TERM; echo up; while :; do sleep 0.05; done";

export function container(name: string, script: string, fields: object = {}): object {
  return { name, command: ["sh", "-c", script], ...fields };
}

export function sidecar(name: string, script: string, fields: object = {}): object {
  return { ...container(name, script, fields), restartPolicy: "Always" };
}

export function execHook(script: string): object {
  return { lifecycle: { preStop: { exec: { command: ["sh", "-c", script] } } } };
}

export function pod(spec: object): object {
  return { metadata: { name: "web", namespace: "test" }, spec };
}

export function createTestRunner(): PodRunner {
  return createPodRunner({
    clock: realClock,
    network: createLoopbackNetwork(),
    processes: createProcessTable(),
    managerProgram: ["sh", "-c", "exit 9"],
    preloadLibrary: "",
    imageEnvironment: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    onEvent: () => {},
  });
}

/** Waits for all lines, in any order. */
export async function untilEvents(pod: RunningPod, ...wanted: readonly string[]): Promise<void> {
  await eventually(() => expect(eventLines(pod)).toEqual(expect.arrayContaining([...wanted])));
}

/** Formats events as `type container`, and output as `container: line`. */
export function eventLines(pod: RunningPod): string[] {
  return pod.events.map((event) =>
    event.type === "line" ? `${event.container}: ${event.detail}` : `${event.type} ${event.container}`.trim(),
  );
}

export function secondsBetween(pod: RunningPod, from: string, to: string): number {
  const lines = eventLines(pod);
  const at = (line: string) => pod.events[lines.indexOf(line)]?.atMs ?? Number.NaN;
  return (at(to) - at(from)) / 1_000;
}
