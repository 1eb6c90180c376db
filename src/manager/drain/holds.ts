/** The calls that wait for an answer. Pure: lists in, lists and actions out. */
import type { HookRole } from "../../contract/drain-settings.ts";
import type { DrainAction } from "./drain-event.ts";
import type { DrainState, Hold } from "./drain-state.ts";

/** A kubelet that restarts asks again; more than that is nobody we know. */
const HOLDS_PER_CALLER = 4;

/**
 * Adds a call. At the cap the oldest of the same address is answered, since the newest is the one somebody waits for:
 * a crowd from elsewhere does not push out the kubelet.
 */
export function addHold(state: DrainState, hold: Hold, actions: DrainAction[]): DrainState {
  const same = state.holds.filter((other) => other.container === hold.container && other.role === hold.role);
  const oldest = same.find((other) => other.peer === hold.peer) ?? same[0];
  if (oldest === undefined || same.length < HOLDS_PER_CALLER) return { ...state, holds: [...state.holds, hold] };
  actions.push({ kind: "answer", holdId: oldest.id });
  return { ...state, holds: [...state.holds.filter((other) => other.id !== oldest.id), hold] };
}

export function dropHold(state: DrainState, holdId: number): DrainState {
  return { ...state, holds: state.holds.filter((hold) => hold.id !== holdId) };
}

/** Lets calls of one role go. A container whose own hook was chained gets that performed before its answer. */
export function releaseRole(state: DrainState, role: HookRole | "drain", actions: DrainAction[]): DrainState {
  let next = state;
  for (const hold of state.holds) {
    if (hold.role === role && hold.stage === "held") next = releaseHold(next, hold, actions);
  }
  return next;
}

/** Lets the calls of one container go. */
export function releaseContainer(state: DrainState, container: string, actions: DrainAction[]): DrainState {
  let next = state;
  for (const hold of state.holds) {
    if (hold.role !== "drain" && hold.container === container && hold.stage === "held")
      next = releaseHold(next, hold, actions);
  }
  return next;
}

/** The container's own hook has run: everyone who waited for it is answered. */
export function answerPerformed(state: DrainState, container: string, actions: DrainAction[]): DrainState {
  const performing = state.performing.filter((other) => other !== container);
  // A restart may come again; a Pod ends once.
  const performed = state.phase === "idle" ? state.performed : [...state.performed, container];
  const next: DrainState = { ...state, performing, performed };
  // A restart that turned out to be the Pod's end: its caller waits for the drain as all do.
  if (state.phase === "withdrawing" || state.phase === "draining") {
    return { ...next, holds: state.holds.map((hold) => (hold.container === container ? at(hold, "held") : hold)) };
  }
  const waits = (hold: Hold): boolean => hold.container === container && hold.stage === "performing";
  for (const hold of state.holds) if (waits(hold)) actions.push({ kind: "answer", holdId: hold.id });
  return { ...next, holds: state.holds.filter((hold) => !waits(hold)) };
}

/** Nobody is kept waiting any longer, whatever they wait for. */
export function answerAll(state: DrainState, actions: DrainAction[]): DrainState {
  for (const hold of state.holds) actions.push({ kind: "answer", holdId: hold.id });
  return { ...state, holds: [] };
}

function releaseHold(state: DrainState, hold: Hold, actions: DrainAction[]): DrainState {
  if (hold.role === "drain" || !state.chained.includes(hold.container) || state.performed.includes(hold.container)) {
    actions.push({ kind: "answer", holdId: hold.id });
    return dropHold(state, hold.id);
  }
  const holds = state.holds.map((other) => (other.id === hold.id ? at(other, "performing") : other));
  if (state.performing.includes(hold.container)) return { ...state, holds };
  actions.push({ kind: "perform-chain", container: hold.container });
  return { ...state, holds, performing: [...state.performing, hold.container] };
}

function at(hold: Hold, stage: Hold["stage"]): Hold {
  return { id: hold.id, container: hold.container, role: hold.role, peer: hold.peer, stage };
}
