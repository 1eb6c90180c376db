/**
 * The calls that wait for an answer, and what a hook means by itself: that its container ends, never that the Pod does.
 * Pure: lists in, lists and actions out.
 */
import type { DrainSettings, HookRole } from "../../contract/drain-settings.ts";
import type { DrainAction } from "./drain-event.ts";
import type { Drain, EndingContainer, Hold, HookCalls, RelayStatus } from "./drain-state.ts";

/** Half of the connections the manager keeps: the other half stays for calls that are answered at once. */
export const MOST_HOLDS = 128;
/** Starting an exec hook can take seconds on a busy node: the manager's own hook may follow a container's by this much. */
const LONE_HOOK_MS = 5_000;
/** A Pod's end starts every hook within milliseconds. */
const TOGETHER_MS = 1_000;
/**
 * Hooks of two containers at once are far more likely the Pod's end than a restart, so a confirmation is awaited longer:
 * beyond the whole withdrawal by default, and short enough for two containers that only restart.
 */
const TOGETHER_HOOK_MS = 15_000;
/** On a node where the relay's answer takes long, the manager's own hook does too: both have to start a process. */
const ANSWER_MARGIN = 3;
/** In a Pod that runs to completion, app hooks that have not been called by then belong to containers that have finished. */
const COMPLETION_MS = 2_000;

export function holdOf(id: number, atMs: number, container: string, role: Hold["role"], peer: string): Hold {
  return { id, container, role, peer, atMs, dueMs: -1, stage: "held" };
}

/** Records a container's hook. Later calls can lengthen the wait of earlier ones and never shorten it. */
export function addHook(hooks: HookCalls, relay: RelayStatus, called: Hold, actions: DrainAction[]): HookCalls {
  const isWith = (container: string, atMs: number): boolean =>
    container !== "" && container !== called.container && called.atMs - atMs <= TOGETHER_MS;
  const isPair =
    hooks.ending.some((end) => isWith(end.container, end.atMs)) ||
    hooks.holds.some((hold) => isWith(hold.container, hold.atMs));
  const waitMs = isPair ? TOGETHER_HOOK_MS : LONE_HOOK_MS;
  const dueMs = called.atMs + waitMs;
  const holds = hooks.holds.map((other) =>
    isWith(other.container, other.atMs) ? withDue(other, other.atMs + TOGETHER_HOOK_MS) : other,
  );
  const own = hooks.ending.find((end) => end.container === called.container && called.atMs < endDueMs(relay, end));
  const ending: EndingContainer[] = [];
  for (const end of hooks.ending) {
    if (end.container === called.container) continue;
    ending.push(isWith(end.container, end.atMs) ? again(end, end.atMs, TOGETHER_HOOK_MS) : end);
  }
  ending.push(own === undefined ? endOf(called, dueMs) : again(own, called.atMs, waitMs));
  return addHold({ ...hooks, holds, ending }, withDue(called, dueMs), actions);
}

/** Field by field, like the next ones: the compiler refuses to spread an element of a list. */
function withDue({ id, container, role, peer, atMs, stage }: Hold, dueMs: number): Hold {
  return { id, container, role, peer, atMs, dueMs, stage };
}

function inStage({ id, container, role, peer, atMs, dueMs }: Hold, stage: Hold["stage"]): Hold {
  return { id, container, role, peer, atMs, dueMs, stage };
}

function endOf({ container, role, atMs }: Hold, dueMs: number): EndingContainer {
  return { container, role: role === "drain" ? "app" : role, fromMs: atMs, atMs, dueMs };
}

/** However many calls follow, one restart is reported, at the end of the container's wait. */
function again(end: EndingContainer, atMs: number, waitMs: number): EndingContainer {
  const { container, role, fromMs } = end;
  return { container, role, fromMs, atMs, dueMs: Math.max(end.dueMs, fromMs + waitMs) };
}

/**
 * Adds a call. Beyond the bound one is answered early: of the container with the most calls, of the address with the
 * most of these, the newest. So the first call of a container is never given up for a later one, and the only call of
 * an address only if as many addresses hold that container as its share of the bound.
 */
export function addHold(hooks: HookCalls, hold: Hold, actions: DrainAction[]): HookCalls {
  const holds = [...hooks.holds, hold];
  if (holds.length <= MOST_HOLDS) return { ...hooks, holds };
  const crowd = mostBy(holds, (one) => one.container);
  const crowded = mostBy(crowd, (one) => one.peer);
  const last = crowded[crowded.length - 1];
  if (last === undefined) return { ...hooks, holds };
  actions.push({ kind: "answer", holdId: last.id });
  return dropHold({ ...hooks, holds }, last.id);
}

/** The holds with the most frequent key; of several such keys the one added last. */
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

export function dropHold(hooks: HookCalls, holdId: number): HookCalls {
  return { ...hooks, holds: hooks.holds.filter((hold) => hold.id !== holdId) };
}

/** Releases one call. A container with a chained hook of its own gets that run before the answer. */
export function releaseHold(hooks: HookCalls, hold: Hold, actions: DrainAction[]): HookCalls {
  const { container } = hold;
  if (hold.role === "drain" || !hooks.chained.includes(container) || hooks.finished.includes(container)) {
    actions.push({ kind: "answer", holdId: hold.id });
    return dropHold(hooks, hold.id);
  }
  const holds = hooks.holds.map((other) => (other.id === hold.id ? inStage(other, "hook-running") : other));
  if (hooks.running.includes(container)) return { ...hooks, holds };
  actions.push({ kind: "run-chained-hook", container });
  return { ...hooks, holds, running: [...hooks.running, container] };
}

/** Releases the calls of one role. */
export function releaseRole(hooks: HookCalls, role: HookRole | "drain", actions: DrainAction[]): HookCalls {
  let next = hooks;
  for (const hold of hooks.holds) {
    if (hold.role === role && hold.stage === "held") next = releaseHold(next, hold, actions);
  }
  return next;
}

/** Answers every call, whatever it waits for. */
export function answerAll(hooks: HookCalls, actions: DrainAction[]): HookCalls {
  for (const hold of hooks.holds) actions.push({ kind: "answer", holdId: hold.id });
  return { ...hooks, holds: [] };
}

/**
 * The container's own hook has run: answers the calls that waited for it.
 *
 * @param inDrain a restart may come again; a Pod ends once
 */
export function finishHook(hooks: HookCalls, container: string, inDrain: boolean, actions: DrainAction[]): HookCalls {
  if (hooks.runningBefore.includes(container)) {
    const at = hooks.runningBefore.indexOf(container);
    return { ...hooks, runningBefore: hooks.runningBefore.filter((_, index) => index !== at) };
  }
  const running = hooks.running.filter((other) => other !== container);
  const finished = inDrain ? [...hooks.finished, container] : hooks.finished;
  const holds: Hold[] = [];
  for (const hold of hooks.holds) {
    if (hold.container !== container || hold.stage !== "hook-running") holds.push(hold);
    else actions.push({ kind: "answer", holdId: hold.id });
  }
  return { ...hooks, running, finished, holds };
}

/**
 * For the start of a drain: whatever a call waited for, it now waits for the drain, and every chained hook runs after
 * it, whatever ran before.
 */
export function holdAgain(hooks: HookCalls): HookCalls {
  const holds = hooks.holds.map((hold) => inStage(hold, "held"));
  return { ...hooks, holds, running: [], runningBefore: [...hooks.runningBefore, ...hooks.running] };
}

/** The call waits for a confirmation that the Pod ends. */
export function isWaitingHook(hold: Hold): boolean {
  return hold.role !== "drain" && hold.stage === "held";
}

/** Hooks were called, and whether the Pod ends is unknown. */
export function isEndUnconfirmed(hooks: HookCalls): boolean {
  return hooks.ending.length > 0 || hooks.holds.some(isWaitingHook);
}

/** When a hook that is still unconfirmed counts as a restart. */
export function holdDueMs(relay: RelayStatus, hold: Hold): number {
  return Math.max(hold.dueMs, hold.atMs + doubtMs(relay));
}

export function endDueMs(relay: RelayStatus, end: EndingContainer): number {
  return Math.max(end.dueMs, end.fromMs + doubtMs(relay));
}

/** How long silence proves nothing, by how fast the relay answered. */
function doubtMs(relay: RelayStatus): number {
  if (relay.askedAtMs < 0) return 0;
  if (relay.answerMs < 0) return TOGETHER_HOOK_MS;
  return Math.min(TOGETHER_HOOK_MS, ANSWER_MARGIN * relay.answerMs);
}

/** When the next hook counts as a restart; -1 if none waits. */
export function restartDueMs(hooks: HookCalls, relay: RelayStatus): number {
  let dueMs = -1;
  for (const end of hooks.ending) dueMs = sooner(dueMs, endDueMs(relay, end));
  for (const hold of hooks.holds) if (isWaitingHook(hold)) dueMs = sooner(dueMs, holdDueMs(relay, hold));
  return dueMs;
}

function sooner(dueMs: number, otherMs: number): number {
  return dueMs < 0 || otherMs < dueMs ? otherMs : dueMs;
}

/** When missing app hooks prove that the app containers have finished; -1 if they prove nothing. */
export function completionDueMs(settings: DrainSettings, hooks: HookCalls, drain: Drain): number {
  if (!settings.completes) return -1;
  // Without an app container that has our hook, a missing hook proves nothing.
  if (!settings.hooks.some((hook) => hook.role === "app")) return -1;
  if (hooks.ending.some((end) => end.role === "app") || hooks.holds.some((hold) => hold.role === "app")) return -1;
  return drain.triggeredAtMs + COMPLETION_MS;
}
