/** Runs a rolling update with maxUnavailable 0 and maxSurge 1, as the Deployment controller does. */
import { randomUUID } from "node:crypto";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { PodRunner } from "../pods/pod-runner.ts";
import type { RunningPod } from "../pods/running-pod.ts";
import { podOf, withName } from "./deployment.ts";

type NewPodPorts = {
  readonly runner: PodRunner;
  readonly admit: (pod: object) => Promise<object>;
};

type RolloutPorts = {
  readonly clock: Clock;
  readonly createPod: () => Promise<RunningPod>;
  readonly beforeDelete: (pod: RunningPod) => Promise<void>;
};

type RolloutResult = {
  readonly updatedPods: readonly RunningPod[];
  /** Resolves when the last old Pod is gone, which is after the Deployment's rollout has finished. */
  readonly oldPodsRemoved: Promise<void>;
};

const POLL_MS = 25;

export async function createPod(deployment: object, revision: string, ports: NewPodPorts): Promise<RunningPod> {
  const uid = randomUUID();
  return ports.runner.start(withName(await ports.admit(podOf(deployment, revision)), uid.slice(0, 5), uid));
}

/** @throws Fault ERR_DEMO_FAILED when a Pod does not become Ready */
export async function waitForAllReady(pods: readonly RunningPod[], clock: Clock): Promise<void> {
  const fromMs = clock.nowMs();
  while (pods.some((pod) => !pod.isReady())) await waitForReady(pods, fromMs, clock);
}

/**
 * Resolves when the new Pods are Ready and the deletion of each old one has started.
 *
 * @throws Fault ERR_DEMO_FAILED when a Pod does not become Ready
 */
export async function replacePods(oldPods: readonly RunningPod[], ports: RolloutPorts): Promise<RolloutResult> {
  const remainingPods = [...oldPods];
  const updatedPods: RunningPod[] = [];
  const removals: Promise<void>[] = [];
  let lastProgressMs = ports.clock.nowMs();
  for (;;) {
    const readyCount = updatedPods.filter((pod) => pod.isReady()).length;
    const step = nextStep({
      desiredCount: oldPods.length,
      oldCount: remainingPods.length,
      updatedCount: updatedPods.length,
      readyCount,
    });
    if (step === "finished") return { updatedPods, oldPodsRemoved: Promise.all(removals).then(() => {}) };
    if (step === "wait") {
      await waitForReady(updatedPods, lastProgressMs, ports.clock);
      continue;
    }
    lastProgressMs = ports.clock.nowMs();
    if (step === "create") updatedPods.push(await ports.createPod());
    const pod = step === "delete" ? remainingPods.shift() : undefined;
    if (pod === undefined) continue;
    await ports.beforeDelete(pod);
    removals.push(pod.remove());
  }
}

async function waitForReady(pods: readonly RunningPod[], fromMs: number, clock: Clock): Promise<void> {
  const unreadyPods = pods.filter((pod) => !pod.isReady());
  const failure = readinessFailure(unreadyPods, clock.nowMs() - fromMs);
  if (failure !== undefined) throw new Fault("ERR_DEMO_FAILED", failure);
  await clock.wait(POLL_MS);
}

type RolloutState = {
  readonly desiredCount: number;
  /** Pods of the old template that are not deleted yet; all are Ready. */
  readonly oldCount: number;
  readonly updatedCount: number;
  readonly readyCount: number;
};

export type RolloutStep = "create" | "delete" | "wait" | "finished";

/** Ignores terminating Pods, as the Deployment controller does. */
export function nextStep(state: RolloutState): RolloutStep {
  if (state.oldCount === 0 && state.readyCount >= state.desiredCount) return "finished";
  if (state.oldCount > 0 && state.oldCount - 1 + state.readyCount >= state.desiredCount) return "delete";
  if (state.updatedCount < state.desiredCount && state.oldCount + state.updatedCount <= state.desiredCount)
    return "create";
  return "wait";
}

const READY_LIMIT_MS = 30_000;
const EXIT_LIMIT = 3;
const OUTPUT_LIMIT = 300;

type UnreadyPod = Pick<RunningPod, "events" | "plan">;

/** @returns the reason to stop waiting for unready Pods, or `undefined` while they may become Ready */
export function readinessFailure(pods: readonly UnreadyPod[], waitedMs: number): string | undefined {
  const crashingPod = pods.find((pod) => exitsOf(pod).length >= EXIT_LIMIT);
  if (crashingPod !== undefined) return `Pod ${crashingPod.plan.name} keeps exiting: ${lastOutput(crashingPod)}`;
  const [unready] = pods;
  if (waitedMs <= READY_LIMIT_MS || unready === undefined) return undefined;
  return `Pod ${unready.plan.name} did not become Ready within ${READY_LIMIT_MS / 1_000} s: ${lastOutput(unready)}`;
}

function exitsOf({ events }: UnreadyPod): RunningPod["events"] {
  return events.filter((event) => event.type === "exited");
}

function lastOutput(pod: UnreadyPod): string {
  const exit = exitsOf(pod).at(-1);
  const lines = pod.events.filter((event) => event.type === "line" && event.container !== MANAGER_CONTAINER);
  const lastLines = lines.slice(-2).map((event) => `${event.container}: ${event.detail.slice(0, OUTPUT_LIMIT)}`);
  const state =
    exit === undefined
      ? "it runs, but its readiness probe fails"
      : `container ${exit.container} exited with ${exit.detail}`;
  return `${state}; ${lastLines.length === 0 ? "it printed nothing" : `last output: ${lastLines.join(" | ")}`}`;
}
