/** Takes one look at the sockets into the state. Pure. */
import { canBeReached } from "./criterion.ts";
import type { Look } from "./drain-event.ts";
import type { DrainState } from "./drain-state.ts";

export function takeLook(state: DrainState, look: Look, nowMs: number): DrainState {
  const neighbours = look.neighbours;
  // Once seen, it stays: the app's listener closes long before its last outgoing call.
  const sharedUser = state.sharedUser || (neighbours.known && neighbours.sharedUser);
  const gone = neighbours.known && !neighbours.others && !sharedUser;
  const seen = look.observation;
  const goneSinceMs = state.othersGoneSinceMs < 0 ? nowMs : state.othersGoneSinceMs;
  return {
    ...state,
    observation: seen,
    lookedAtMs: nowMs,
    // A reading that failed cost no less than the last one.
    lookedAtSockets: look.sockets < 0 ? state.lookedAtSockets : look.sockets,
    blindLooks: !seen.known && seen.blind ? state.blindLooks + 1 : 0,
    listened: state.listened || canBeReached(seen),
    sharedUser,
    othersGoneSinceMs: gone ? goneSinceMs : -1,
  };
}
