/**
 * Ends a drain in which only cycling connections are left: waiting does not end them, but the app's own shutdown may close them
 * gracefully. Pure.
 */
import { criterionOf, patienceMsOf } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { quietDueMs } from "../traffic/quiet.ts";
import type { CyclingWatch, Draining, DrainState } from "./drain-state.ts";

/** During this time before the patience ends, about six samples record the minimum number of outstanding responses. */
const OBSERVED_MS = 1_000;
/** After the patience the drain waits at most this long until the outstanding responses do not exceed the recorded minimum. */
const SEARCH_LIMIT_MS = 3_000;
/** Search limit with `isProvenGraceful`, from the start of the phase. Shorter, because the app finishes the outstanding responses. */
const PROVEN_SEARCH_LIMIT_MS = 1_000;

/** Whether the setting `shutdown` is `auto`, and the relay reported that no connection was reset when the workload's last Pods stopped. */
export function isProvenGraceful(settings: DrainSettings, state: DrainState): boolean {
  return settings.shutdown === "auto" && state.relay.isGraceful;
}

function patienceMs(settings: DrainSettings, state: DrainState): number {
  return isProvenGraceful(settings, state) ? 0 : patienceMsOf(settings);
}

/** Updates the watch from the sample at `nowMs`. A cycling connection that ended since the last sample restarts the patience. */
export function watchCycling(settings: DrainSettings, state: DrainState, phase: Draining, nowMs: number): Draining {
  const { sample } = state;
  const { observation } = sample;
  if (sample.atMs !== nowMs || !observation.known || criterionOf(settings) !== "quiet") return phase;
  const { connectionCount, outstandingResponses } = observation.cycling;
  const last = phase.cycling;
  const hasEnded = connectionCount < last.connectionCount;
  const sinceMs = hasEnded ? nowMs : last.sinceMs;
  const patienceEndMs = sinceMs + patienceMs(settings, state);
  const isObserved = nowMs >= patienceEndMs - OBSERVED_MS && nowMs < patienceEndMs;
  const fewestOutstanding =
    isObserved && (last.fewestOutstanding < 0 || outstandingResponses < last.fewestOutstanding)
      ? outstandingResponses
      : last.fewestOutstanding;
  const cycling: CyclingWatch = { connectionCount, sinceMs, fewestOutstanding: hasEnded ? -1 : fewestOutstanding };
  return { ...phase, cycling };
}

/** Whether the sample at `nowMs` ends the drain, so that the app gets its stop signal. */
export function isHandOverDue(settings: DrainSettings, state: DrainState, phase: Draining, nowMs: number): boolean {
  const { sample } = state;
  const { observation } = sample;
  if (sample.atMs !== nowMs || !observation.known || criterionOf(settings) !== "quiet") return false;
  const { connectionCount, outstandingResponses, othersActivity, othersEvidenceMs, lastArrivalMs } =
    observation.cycling;
  if (connectionCount === 0 || othersActivity !== "quiet") return false;
  const hasPatience = patienceMs(settings, state) > 0;
  // Without patience, only new connections delay the hand-over: after the stop signal the app refuses them, but finishes its requests.
  const evidenceMs = hasPatience ? othersEvidenceMs : lastArrivalMs;
  if (nowMs < quietDueMs(settings.quietPeriodMs, evidenceMs, phase.drain.triggeredAtMs)) return false;
  const patienceEndMs = phase.cycling.sinceMs + patienceMs(settings, state);
  if (nowMs < patienceEndMs) return false;
  if (outstandingResponses <= Math.max(0, phase.cycling.fewestOutstanding)) return true;
  if (hasPatience) return nowMs >= patienceEndMs + SEARCH_LIMIT_MS;
  return !isProvenGraceful(settings, state) || nowMs >= phase.drainingFromMs + PROVEN_SEARCH_LIMIT_MS;
}
