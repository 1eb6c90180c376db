/** What the relay knew of the Pod, in the words of the report. Pure. */
import type { DrainState } from "./drain-state.ts";

/** One of `none`, `withdrawn`, `offered`, `still_in_rotation`, or `unknown: ` and why. */
export function relayVerdictOf(state: DrainState): string {
  const { offered, reason } = state.relay;
  if (offered === "out") return "withdrawn";
  if (offered === "in") return state.stillInRotation ? "still_in_rotation" : "offered";
  return reason === "" ? "none" : `unknown: ${reason}`;
}

/** From the trigger; 0 when it was before that, -1 when it never came. */
export function withdrawnAfterMs(state: DrainState): number {
  if (state.withdrawnAtMs < 0 || state.triggeredAtMs < 0) return -1;
  return Math.max(0, Math.round(state.withdrawnAtMs - state.triggeredAtMs));
}
