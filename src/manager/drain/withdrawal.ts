/** When the Pod counts as withdrawn from its Services, as far as the relay knows. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { floorEndMs } from "./deadline.ts";
import type { DrainState } from "./drain-state.ts";

/** Slices lag; a Pod that they show untouched for this long is being stopped by its kubelet alone. */
const SLICES_LAG_MS = 5_000;

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
  if (state.relay.offered === "out") return Math.max(floorMs, state.withdrawnAtMs);
  if (state.relay.offered === "unknown") return floorMs;
  if (state.relay.terminating) return -1;
  return state.triggeredAtMs + Math.max(settings.drainDelayMs, SLICES_LAG_MS);
}
