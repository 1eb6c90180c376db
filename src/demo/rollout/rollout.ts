/** Carries a rolling update out, one step at a time. */
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { RunningPod } from "../pods/running-pod.ts";
import { hopelessness } from "./ready-wait.ts";

type RolloutPorts = {
  readonly clock: Clock;
  readonly createPod: () => Promise<RunningPod>;
  /** Waited for right before a Pod's deletion. */
  readonly beforeDelete: (pod: RunningPod) => Promise<void>;
};

const POLL_MS = 25;

type Rolled = {
  readonly fresh: readonly RunningPod[];
  /** Resolves when the last of the old Pods is gone; a Deployment counts as rolled out before. */
  readonly oldGone: Promise<void>;
};

/** Resolves when the new Pods are Ready and the old ones gone. Throws Fault ERR_DEMO_FAILED when a Pod never gets Ready. */
export async function rollOut(oldPods: readonly RunningPod[], ports: RolloutPorts): Promise<void> {
  await (await replacePods(oldPods, ports)).oldGone;
}

/** Resolves when the new Pods are Ready and the old ones were told to end. @throws as {@link rollOut} */
export async function replacePods(oldPods: readonly RunningPod[], ports: RolloutPorts): Promise<Rolled> {
  const old = [...oldPods];
  const fresh: RunningPod[] = [];
  const ending: Promise<void>[] = [];
  let progressMs = ports.clock.nowMs();
  for (;;) {
    const freshReady = fresh.filter((pod) => pod.isReady()).length;
    const step = nextStep({ desired: oldPods.length, old: old.length, fresh: fresh.length, freshReady });
    if (step === "finished") break;
    if (step === "wait") {
      const waited = fresh.filter((pod) => !pod.isReady());
      const why = hopelessness(waited, ports.clock.nowMs() - progressMs);
      if (why !== undefined) throw new Fault("ERR_DEMO_FAILED", why);
      await ports.clock.wait(POLL_MS);
      continue;
    }
    progressMs = ports.clock.nowMs();
    if (step === "create") fresh.push(await ports.createPod());
    const pod = step === "delete" ? old.shift() : undefined;
    if (pod === undefined) continue;
    await ports.beforeDelete(pod);
    ending.push(pod.remove());
  }
  return { fresh, oldGone: Promise.all(ending).then(() => {}) };
}

/** What a Deployment does next during a rolling update with maxUnavailable 0 and maxSurge 1. Pure. */
type RolloutState = {
  readonly desired: number;
  /** Pods of the old template that were not deleted yet; all of them are Ready. */
  readonly old: number;
  readonly fresh: number;
  readonly freshReady: number;
};

export type RolloutStep = "create" | "delete" | "wait" | "finished";

/** Pods that are ending count for nothing, as in the Deployment controller: the next step does not wait for them. */
export function nextStep(state: RolloutState): RolloutStep {
  if (state.old === 0 && state.freshReady >= state.desired) return "finished";
  if (state.old > 0 && state.old - 1 + state.freshReady >= state.desired) return "delete";
  if (state.fresh < state.desired && state.old + state.fresh <= state.desired) return "create";
  return "wait";
}
