/** Carries out a rolling update with maxUnavailable 0 and maxSurge 1. */
import { randomUUID } from "node:crypto";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { PodRunner } from "../pods/pod-runner.ts";
import type { RunningPod } from "../pods/running-pod.ts";
import { namedPod, podOf } from "./deployment.ts";

type NewPodPorts = {
  readonly runner: PodRunner;
  /** Passes a Pod through admission; returns it unchanged when there is no webhook. */
  readonly admit: (pod: object) => Promise<object>;
};

type RolloutPorts = {
  readonly clock: Clock;
  readonly createPod: () => Promise<RunningPod>;
  /** Awaited right before a Pod is deleted. */
  readonly beforeDelete: (pod: RunningPod) => Promise<void>;
};

type Rolled = {
  readonly fresh: readonly RunningPod[];
  /** Resolves when the last old Pod is gone; a Deployment counts as rolled out before. */
  readonly oldGone: Promise<void>;
};

const POLL_MS = 25;

/** Resolves when the containers of the Pod were started. */
export async function createPod(deployment: object, revision: string, ports: NewPodPorts): Promise<RunningPod> {
  const uid = randomUUID();
  return ports.runner.start(namedPod(await ports.admit(podOf(deployment, revision)), uid.slice(0, 5), uid));
}

/** @throws Fault ERR_DEMO_FAILED when a Pod does not get Ready */
export async function allReady(pods: readonly RunningPod[], clock: Clock): Promise<void> {
  const fromMs = clock.nowMs();
  while (pods.some((pod) => !pod.isReady())) await waitForReady(pods, fromMs, clock);
}

/**
 * Resolves when the new Pods are Ready and the deletion of each old one has started.
 *
 * @throws Fault ERR_DEMO_FAILED when a Pod does not get Ready
 */
export async function replacePods(oldPods: readonly RunningPod[], ports: RolloutPorts): Promise<Rolled> {
  const old = [...oldPods];
  const fresh: RunningPod[] = [];
  const ending: Promise<void>[] = [];
  let progressMs = ports.clock.nowMs();
  for (;;) {
    const freshReady = fresh.filter((pod) => pod.isReady()).length;
    const step = nextStep({ desired: oldPods.length, old: old.length, fresh: fresh.length, freshReady });
    if (step === "finished") return { fresh, oldGone: Promise.all(ending).then(() => {}) };
    if (step === "wait") {
      await waitForReady(fresh, progressMs, ports.clock);
      continue;
    }
    progressMs = ports.clock.nowMs();
    if (step === "create") fresh.push(await ports.createPod());
    const pod = step === "delete" ? old.shift() : undefined;
    if (pod === undefined) continue;
    await ports.beforeDelete(pod);
    ending.push(pod.remove());
  }
}

async function waitForReady(pods: readonly RunningPod[], fromMs: number, clock: Clock): Promise<void> {
  const unready = pods.filter((pod) => !pod.isReady());
  const failure = readinessFailure(unready, clock.nowMs() - fromMs);
  if (failure !== undefined) throw new Fault("ERR_DEMO_FAILED", failure);
  await clock.wait(POLL_MS);
}

type RolloutState = {
  readonly desired: number;
  /** Pods of the old template that were not deleted yet; all of them are Ready. */
  readonly old: number;
  readonly fresh: number;
  readonly freshReady: number;
};

export type RolloutStep = "create" | "delete" | "wait" | "finished";

/** Does not count or await Pods that are ending, like the Deployment controller. */
export function nextStep(state: RolloutState): RolloutStep {
  if (state.old === 0 && state.freshReady >= state.desired) return "finished";
  if (state.old > 0 && state.old - 1 + state.freshReady >= state.desired) return "delete";
  if (state.fresh < state.desired && state.old + state.fresh <= state.desired) return "create";
  return "wait";
}

const READY_LIMIT_MS = 30_000;
const EXIT_LIMIT = 3;
const OUTPUT_LIMIT = 300;

type UnreadyPod = Pick<RunningPod, "events" | "plan">;

/** The sentence that ends the wait for unready Pods, or `undefined` while they may still get Ready. */
export function readinessFailure(pods: readonly UnreadyPod[], waitedMs: number): string | undefined {
  const crashing = pods.find((pod) => exitsOf(pod).length >= EXIT_LIMIT);
  if (crashing !== undefined) return `Pod ${crashing.plan.name} does not stay up: ${lastOutput(crashing)}`;
  const [late] = pods;
  if (waitedMs <= READY_LIMIT_MS || late === undefined) return undefined;
  return `Pod ${late.plan.name} was not Ready within ${READY_LIMIT_MS / 1_000} s: ${lastOutput(late)}`;
}

function exitsOf({ events }: UnreadyPod): RunningPod["events"] {
  return events.filter((event) => event.what === "exited");
}

function lastOutput(pod: UnreadyPod): string {
  const exit = exitsOf(pod).at(-1);
  const lines = pod.events.filter((event) => event.what === "line" && event.container !== MANAGER_CONTAINER);
  const last = lines.slice(-2).map((event) => `${event.container}: ${event.detail.slice(0, OUTPUT_LIMIT)}`);
  const state =
    exit === undefined ? "it runs, and its readiness probe fails" : `${exit.container} ended with ${exit.detail}`;
  return `${state}; ${last.length === 0 ? "it printed nothing" : `it printed last: ${last.join(" | ")}`}`;
}
