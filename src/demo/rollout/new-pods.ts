/** Pods from a Deployment's template, through admission to Ready. */
import { randomUUID } from "node:crypto";
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { PodRunner } from "../pods/pod-runner.ts";
import type { RunningPod } from "../pods/running-pod.ts";
import { namedPod, podOf } from "./deployment.ts";
import { hopelessness } from "./ready-wait.ts";

type NewPodPorts = {
  readonly runner: PodRunner;
  /** The way of a Pod through admission; the same Pod when there is no webhook. */
  readonly admit: (pod: object) => Promise<object>;
};

const POLL_MS = 25;

/** Resolves when its containers were started. */
export async function createPod(deployment: object, revision: string, ports: NewPodPorts): Promise<RunningPod> {
  const uid = randomUUID();
  return ports.runner.start(namedPod(await ports.admit(podOf(deployment, revision)), uid.slice(0, 5), uid));
}

/** @throws Fault ERR_DEMO_FAILED when one of them never gets Ready */
export async function allReady(pods: readonly RunningPod[], clock: Clock): Promise<void> {
  const fromMs = clock.nowMs();
  for (;;) {
    const waited = pods.filter((pod) => !pod.isReady());
    if (waited.length === 0) return;
    const why = hopelessness(waited, clock.nowMs() - fromMs);
    if (why !== undefined) throw new Fault("ERR_DEMO_FAILED", why);
    await clock.wait(POLL_MS);
  }
}
