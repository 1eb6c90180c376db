/** When the Pod counts as withdrawn from its Services, as far as the relay knows. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { floorEndMs } from "./deadline.ts";
import type { RelaySaid } from "./drain-event.ts";
import type { DrainState, RelayKnows } from "./drain-state.ts";

/** Slices lag; a Pod that they show untouched for this long is being stopped by its kubelet alone. */
const SLICES_LAG_MS = 5_000;

/** The relay's word on top of what it said before. It confirms that the Pod ends and never denies it: another replica may lag. */
export function withWord(state: DrainState, said: RelaySaid): DrainState {
  const terminating = state.relay.terminating || said.terminating;
  const askedAtMs = state.relay.askedAtMs < 0 ? said.nowMs : state.relay.askedAtMs;
  const answerMs = state.relay.answerMs < 0 && said.answered ? said.nowMs - askedAtMs : state.relay.answerMs;
  const relay: RelayKnows = { offered: said.offered, terminating, reason: said.reason, askedAtMs, answerMs };
  const told: DrainState = { ...state, relay };
  if (said.offered === "in") return { ...told, withdrawnAtMs: -1, outFromMs: -1 };
  if (said.offered === "unknown") return state.relay.offered === "in" ? { ...told, withheldUntilMs: said.nowMs } : told;
  if (state.withdrawnAtMs >= 0) return told;
  // After a silence the manager does not know since when: the silence must not make the drain longer.
  const outFromMs = state.relay.offered === "in" ? said.nowMs : state.withheldUntilMs;
  return { ...told, withdrawnAtMs: said.nowMs, outFromMs };
}

/** The planned end of the withdrawing phase, deregistration delay included, as far as it is known now. */
export function withdrawalEndMs(settings: DrainSettings, state: DrainState): number {
  const withdrawnMs = withdrawnByMs(settings, state);
  // Still offered, and terminating: only the relay or the deadline ends this.
  if (withdrawnMs < 0) return state.deadlineMs;
  return withdrawnMs + settings.deregistrationDelayMs;
}

/** -1 while slices still offer a terminating Pod. */
export function withdrawnByMs(settings: DrainSettings, state: DrainState): number {
  const floorMs = floorEndMs(settings, state.triggeredAtMs);
  // A relay that went silent after that does not undo it: load balancers still get their time.
  if (state.relay.offered !== "in") return Math.max(floorMs, state.outFromMs);
  if (state.relay.terminating) return -1;
  return state.triggeredAtMs + Math.max(settings.drainDelayMs, SLICES_LAG_MS);
}

/** For the report: one of `none`, `withdrawn`, `offered`, `still_in_rotation`, or `unknown: ` and why. */
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
