/** What a hook says by itself: that a container ends, never that the Pod does. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { DrainState, Hold, Join, RelayKnows } from "./drain-state.ts";

/** Starting an exec hook can take seconds on a busy node: so long the manager's own hook may come after a container's. */
const LONE_HOOK_MS = 5_000;
/** A Pod's end starts every hook within milliseconds. */
const TOGETHER_MS = 1_000;
/**
 * Hooks of two containers at once are far more likely the Pod's end than a restart, so its word is waited for longer:
 * beyond the whole withdrawal by default, and short enough for two containers that only restart.
 */
const TOGETHER_HOOK_MS = 15_000;
/** On a node where the relay's answer takes long, the manager's own hook does too: both have to start a process. */
const ANSWER_MARGIN = 3;
/** In a Pod that runs to completion, app hooks that have not come by then belong to containers that have finished. */
const COMPLETION_MS = 2_000;

/** Notes a hook. Each call has a time of its own, which other calls can lengthen to the longer one and never shorten. */
export function withHook(state: DrainState, hook: Hold): { readonly state: DrainState; readonly hook: Hold } {
  const isWith = (container: string, atMs: number): boolean =>
    container !== "" && container !== hook.container && hook.atMs - atMs <= TOGETHER_MS;
  const isPair =
    state.joins.some((join) => isWith(join.container, join.atMs)) ||
    state.holds.some((hold) => isWith(hold.container, hold.atMs));
  const waitMs = isPair ? TOGETHER_HOOK_MS : LONE_HOOK_MS;
  const dueMs = hook.atMs + waitMs;
  const holds = state.holds.map((other) =>
    isWith(other.container, other.atMs) ? dueAt(other, other.atMs + TOGETHER_HOOK_MS) : other,
  );
  const own = state.joins.find((join) => join.container === hook.container && hook.atMs < joinDueMs(state, join));
  const others = state.joins.filter((join) => join.container !== hook.container);
  const joins = others.map((join) =>
    isWith(join.container, join.atMs) ? joinDueAt(join, join.fromMs + TOGETHER_HOOK_MS) : join,
  );
  joins.push(own === undefined ? joinOf(hook, dueMs) : again(own, hook, waitMs));
  return { state: { ...state, holds, joins }, hook: dueAt(hook, dueMs) };
}

function joinOf(hook: Hold, dueMs: number): Join {
  const role = hook.role === "drain" ? "app" : hook.role;
  return { container: hook.container, role, fromMs: hook.atMs, atMs: hook.atMs, dueMs };
}

/** However many calls come, a restart is told at the end of its time, and no more often. */
function again(join: Join, hook: Hold, waitMs: number): Join {
  const { container, role, fromMs } = join;
  return { container, role, fromMs, atMs: hook.atMs, dueMs: Math.max(join.dueMs, fromMs + waitMs) };
}

function joinDueAt(join: Join, dueMs: number): Join {
  return { container: join.container, role: join.role, fromMs: join.fromMs, atMs: join.atMs, dueMs };
}

function dueAt(hold: Hold, dueMs: number): Hold {
  const { id, container, role, peer, atMs, stage } = hold;
  return { id, container, role, peer, atMs, dueMs, stage };
}

/** It waits for a word that the Pod ends. */
export function isWaitingHook(hold: Hold): boolean {
  return hold.role !== "drain" && hold.stage === "held";
}

/** Hooks came, and whether the Pod ends is not known. */
export function asksForTheEnd(state: DrainState): boolean {
  return state.joins.length > 0 || state.holds.some(isWaitingHook);
}

/** When a hook that nothing has confirmed by then is taken for a restart. */
export function holdDueMs(state: DrainState, hold: Hold): number {
  return Math.max(hold.dueMs, hold.atMs + doubtMs(state.relay));
}

export function joinDueMs(state: DrainState, join: Join): number {
  return Math.max(join.dueMs, join.fromMs + doubtMs(state.relay));
}

/** How long silence proves nothing, by how soon the relay was heard. */
function doubtMs(relay: RelayKnows): number {
  if (relay.askedAtMs < 0) return 0;
  if (relay.answerMs < 0) return TOGETHER_HOOK_MS;
  return Math.min(TOGETHER_HOOK_MS, ANSWER_MARGIN * relay.answerMs);
}

/** When the next hook has to be taken for a restart; -1 when none waits. */
export function restartDueMs(state: DrainState): number {
  let dueMs = -1;
  for (const join of state.joins) dueMs = sooner(dueMs, joinDueMs(state, join));
  for (const hold of state.holds) if (isWaitingHook(hold)) dueMs = sooner(dueMs, holdDueMs(state, hold));
  return dueMs;
}

function sooner(dueMs: number, otherMs: number): number {
  return dueMs < 0 || otherMs < dueMs ? otherMs : dueMs;
}

/** When the missing app hooks prove that the app containers have finished; -1 when they prove nothing. */
export function completionDueMs(settings: DrainSettings, state: DrainState): number {
  if (!settings.completes) return -1;
  // Without an app container that has our hook, a missing hook says nothing.
  if (!settings.hooks.some((hook) => hook.role === "app")) return -1;
  if (state.joins.some((join) => join.role === "app") || state.holds.some((hold) => hold.role === "app")) return -1;
  return state.triggeredAtMs + COMPLETION_MS;
}
