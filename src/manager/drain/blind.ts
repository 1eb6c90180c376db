/** When a drain hands over because it cannot see: nothing at all, or not who of the connected is at work. Pure. */
import { criterionOf, watchesSockets } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { holdingBoundMs } from "./deadline.ts";
import type { DrainState } from "./drain-state.ts";

/**
 * One failed reading is bad luck, so many in a row are 1.5 s of looks at the usual pace. The default delays hold 15
 * looks: a Pod that was never seen loses no time beyond them.
 */
const BLIND_LOOKS = 10;
/** Without ages a request that is being answered looks idle. A real answer mostly takes its turn within this time. */
export const UNTOLD_MS = 10_000;

function seesNothing(state: DrainState): boolean {
  return state.blindLooks >= BLIND_LOOKS;
}

/** Whether the draining phase is over because waiting longer would be waiting for nothing that can be seen. */
export function isBlind(settings: DrainSettings, state: DrainState, nowMs: number): boolean {
  const criterion = criterionOf(settings);
  // A driver has eyes of its own, and the deadline needs none.
  if (!watchesSockets(criterion)) return false;
  if (seesNothing(state)) return true;
  const seen = state.observation;
  // Whether a connection is open can be told without ages.
  if (criterion === "connections" || state.lookedAtMs !== nowMs || !seen.known || !seen.untold) return false;
  return nowMs >= Math.max(seen.lastEvidenceMs, state.drainingFromMs) + untoldMs(settings);
}

/** How long no traffic may show before connections that cannot be judged are handed over. */
export function untoldMs(settings: DrainSettings): number {
  return Math.max(settings.quietPeriodMs, UNTOLD_MS);
}

/** When everything is released. A manager that cannot see the app's end gives it its own grace and no more. */
export function holdingEndMs(settings: DrainSettings, state: DrainState): number {
  return holdingBoundMs(settings, seesNothing(state) ? state.holdingFromMs : state.deadlineMs);
}
