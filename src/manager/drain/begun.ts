/** The first state of a drain. Pure. */
import type { DrainTrigger } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { lastMinuteDeadlineMs, plannedDeadlineMs } from "./deadline.ts";
import { type DrainState, NOT_LOOKED } from "./drain-state.ts";
import { heldAgain } from "./holds.ts";

/**
 * Fixes the plan and forgets what an earlier story left, the calls that wait aside. A restart that turns out to be the
 * Pod's end is held like any other hook; its own hook has its turn after the drain, whatever was performed before.
 */
export function begun(settings: DrainSettings, state: DrainState, trigger: DrainTrigger, nowMs: number): DrainState {
  const deadlineMs = trigger === "sigterm" ? lastMinuteDeadlineMs(settings, nowMs) : plannedDeadlineMs(settings, nowMs);
  return {
    ...state,
    phase: "withdrawing",
    outcome: "none",
    trigger,
    holds: state.holds.map(heldAgain),
    performing: [],
    performingBefore: [...state.performingBefore, ...state.performing],
    triggeredAtMs: nowMs,
    deadlineMs,
    withheldUntilMs: -1,
    observation: NOT_LOOKED,
    lookedAtMs: -1,
    lookedAtSockets: 0,
    listened: false,
    why: "",
  };
}
