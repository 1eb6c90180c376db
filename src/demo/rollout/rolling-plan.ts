/** What a Deployment does next during a rolling update with maxUnavailable 0 and maxSurge 1. Pure. */

export type RolloutState = {
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
