/** The calls that wait for an answer. Pure: lists in, lists and actions out. */
import type { HookRole } from "../../contract/drain-settings.ts";
import type { DrainAction } from "./drain-event.ts";
import type { DrainState, Hold } from "./drain-state.ts";

/** Half of the connections the manager keeps: the other half stays for calls that are answered at once. */
export const MOST_HOLDS = 128;

export function holdOf(id: number, atMs: number, container: string, role: Hold["role"], peer: string): Hold {
  return { id, container, role, peer, atMs, dueMs: -1, stage: "held" };
}

/**
 * Adds a call. Beyond the bound one is answered early: of the container with the most calls, of the address with the
 * most of these, the newest. So the first call of a container is never let go for a newcomer, and the only call of an
 * address only when as many addresses hold that container as its share of the bound.
 */
export function addHold(state: DrainState, hold: Hold, actions: DrainAction[]): DrainState {
  const holds = [...state.holds, hold];
  if (holds.length <= MOST_HOLDS) return { ...state, holds };
  const crowd = mostBy(holds, (one) => one.container);
  const crowded = mostBy(crowd, (one) => one.peer);
  const last = crowded[crowded.length - 1];
  if (last === undefined) return { ...state, holds };
  actions.push({ kind: "answer", holdId: last.id });
  return dropHold({ ...state, holds }, last.id);
}

/** Those who share the most frequent key; of several such keys the one that came last. */
function mostBy(holds: readonly Hold[], keyOf: (hold: Hold) => string): readonly Hold[] {
  const counts = new Map<string, number>();
  let most = 0;
  for (const hold of holds) {
    const count = (counts.get(keyOf(hold)) ?? 0) + 1;
    counts.set(keyOf(hold), count);
    if (count > most) most = count;
  }
  let chosen = "";
  for (const hold of holds) if (counts.get(keyOf(hold)) === most) chosen = keyOf(hold);
  return holds.filter((hold) => keyOf(hold) === chosen);
}

export function dropHold(state: DrainState, holdId: number): DrainState {
  return { ...state, holds: state.holds.filter((hold) => hold.id !== holdId) };
}

/** Lets calls of one role go. */
export function releaseRole(state: DrainState, role: HookRole | "drain", actions: DrainAction[]): DrainState {
  let next = state;
  for (const hold of state.holds) {
    if (hold.role === role && hold.stage === "held") next = releaseHold(next, hold, actions);
  }
  return next;
}

/** The container's own hook has run: everyone who waited for it is answered. */
export function answerPerformed(state: DrainState, container: string, actions: DrainAction[]): DrainState {
  if (state.performingBefore.includes(container)) {
    const at = state.performingBefore.indexOf(container);
    return { ...state, performingBefore: state.performingBefore.filter((_, index) => index !== at) };
  }
  const performing = state.performing.filter((other) => other !== container);
  // A restart may come again; a Pod ends once.
  const performed = state.phase === "idle" ? state.performed : [...state.performed, container];
  const waits = (hold: Hold): boolean => hold.container === container && hold.stage === "performing";
  for (const hold of state.holds) if (waits(hold)) actions.push({ kind: "answer", holdId: hold.id });
  return { ...state, performing, performed, holds: state.holds.filter((hold) => !waits(hold)) };
}

/** No hold is kept waiting any longer, whatever it waits for. */
export function answerAll(state: DrainState, actions: DrainAction[]): DrainState {
  for (const hold of state.holds) actions.push({ kind: "answer", holdId: hold.id });
  return { ...state, holds: [] };
}

/** Lets one call go. A container whose own hook was chained gets that performed before its answer. */
export function releaseHold(state: DrainState, hold: Hold, actions: DrainAction[]): DrainState {
  if (hold.role === "drain" || !state.chained.includes(hold.container) || state.performed.includes(hold.container)) {
    actions.push({ kind: "answer", holdId: hold.id });
    return dropHold(state, hold.id);
  }
  const holds = state.holds.map((other) => (other.id === hold.id ? at(other, "performing") : other));
  if (state.performing.includes(hold.container)) return { ...state, holds };
  actions.push({ kind: "perform-chain", container: hold.container });
  return { ...state, holds, performing: [...state.performing, hold.container] };
}

/** Whatever a call waited for before, it waits for the drain now. */
export function heldAgain(hold: Hold): Hold {
  return at(hold, "held");
}

function at(hold: Hold, stage: Hold["stage"]): Hold {
  const { id, container, role, peer, atMs, dueMs } = hold;
  return { id, container, role, peer, atMs, dueMs, stage };
}
