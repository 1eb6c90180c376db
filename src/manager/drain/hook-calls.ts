/**
 * Tracks the holds of preStop hooks. A hook proves that the kubelet stops the container, but not that the Pod is terminating. Pure.
 */
import type { DrainSettings, HookRole } from "../../contract/drain-settings.ts";
import type { DrainAction } from "./drain-event.ts";
import type { Drain, EndingContainer, Hold, HookCalls, RelayStatus } from "./drain-state.ts";

/** Half of the connections that the manager keeps open. The other half is for requests that need an immediate response. */
export const HOLDS_LIMIT = 128;
/** The manager's own hook may be this much later than a container's, because an exec hook can take seconds on a busy node. */
const SINGLE_HOOK_WAIT_MS = 5_000;
/** Hooks within this time count as simultaneous. The kubelet starts all hooks of a terminating Pod within milliseconds. */
const SIMULTANEOUS_WITHIN_MS = 1_000;
/**
 * Simultaneous hooks of two containers usually mean that the Pod is terminating, so the manager waits longer for a confirmation:
 * longer than the default withdrawing phase, but not so long that the restarts of two containers are delayed too much.
 */
const SIMULTANEOUS_HOOKS_WAIT_MS = 15_000;
/**
 * Factor on the relay's response time. If the relay client responds slowly, the manager's own hook is slow too, because both start a
 * process.
 */
const RESPONSE_FACTOR = 3;
/** In a Pod that runs to completion, a container whose hook is not called within this time has finished. */
const COMPLETION_MS = 2_000;

export function holdOf(id: number, atMs: number, container: string, role: Hold["role"], peer: string): Hold {
  return { id, container, role, peer, atMs, dueMs: -1, stage: "held" };
}

/** Records a container's hook. A later hook can lengthen the wait of an earlier hook, but cannot shorten it. */
export function addHook(hooks: HookCalls, relay: RelayStatus, newHold: Hold, actions: DrainAction[]): HookCalls {
  const isSimultaneous = (container: string, atMs: number): boolean =>
    container !== "" && container !== newHold.container && newHold.atMs - atMs <= SIMULTANEOUS_WITHIN_MS;
  const hasSimultaneousHook =
    hooks.endingContainers.some((end) => isSimultaneous(end.container, end.atMs)) ||
    hooks.holds.some((hold) => isSimultaneous(hold.container, hold.atMs));
  const waitMs = hasSimultaneousHook ? SIMULTANEOUS_HOOKS_WAIT_MS : SINGLE_HOOK_WAIT_MS;
  const dueMs = newHold.atMs + waitMs;
  const holds = hooks.holds.map((other) =>
    isSimultaneous(other.container, other.atMs) ? withDue(other, other.atMs + SIMULTANEOUS_HOOKS_WAIT_MS) : other,
  );
  const previous = hooks.endingContainers.find(
    (end) => end.container === newHold.container && newHold.atMs < endDueMs(relay, end),
  );
  const endingContainers: EndingContainer[] = [];
  for (const end of hooks.endingContainers) {
    if (end.container === newHold.container) continue;
    endingContainers.push(
      isSimultaneous(end.container, end.atMs) ? withLongerWait(end, end.atMs, SIMULTANEOUS_HOOKS_WAIT_MS) : end,
    );
  }
  endingContainers.push(
    previous === undefined ? endOf(newHold, dueMs) : withLongerWait(previous, newHold.atMs, waitMs),
  );
  return addHold({ ...hooks, holds, endingContainers }, withDue(newHold, dueMs), actions);
}

/** Copies field by field, because the native compiler cannot spread an element of a list. */
function withDue({ id, container, role, peer, atMs, stage }: Hold, dueMs: number): Hold {
  return { id, container, role, peer, atMs, dueMs, stage };
}

function inStage({ id, container, role, peer, atMs, dueMs }: Hold, stage: Hold["stage"]): Hold {
  return { id, container, role, peer, atMs, dueMs, stage };
}

function endOf({ container, role, atMs }: Hold, dueMs: number): EndingContainer {
  return { container, role: role === "drain" ? "app" : role, fromMs: atMs, atMs, dueMs };
}

/** Lengthens the wait of a container, because all of its hooks until the end of the wait count as one restart. */
function withLongerWait(end: EndingContainer, atMs: number, waitMs: number): EndingContainer {
  const { container, role, fromMs } = end;
  return { container, role, fromMs, atMs, dueMs: Math.max(end.dueMs, fromMs + waitMs) };
}

/**
 * Adds a hold. Above the limit, selects the container with the most holds, then the address with the most holds for this container,
 * and releases the newest of these holds early. So a flood of hook requests for one container does not release the holds of others.
 */
export function addHold(hooks: HookCalls, hold: Hold, actions: DrainAction[]): HookCalls {
  const holds = [...hooks.holds, hold];
  if (holds.length <= HOLDS_LIMIT) return { ...hooks, holds };
  const holdsOfContainer = mostFrequentBy(holds, (one) => one.container);
  const holdsOfAddress = mostFrequentBy(holdsOfContainer, (one) => one.peer);
  const newest = holdsOfAddress[holdsOfAddress.length - 1];
  if (newest === undefined) return { ...hooks, holds };
  actions.push({ kind: "answer", holdId: newest.id });
  return dropHold({ ...hooks, holds }, newest.id);
}

/** Returns the holds with the most frequent key. If several keys are equally frequent, the key of the newest hold counts. */
function mostFrequentBy(holds: readonly Hold[], keyOf: (hold: Hold) => string): readonly Hold[] {
  const counts = new Map<string, number>();
  let highestCount = 0;
  for (const hold of holds) {
    const count = (counts.get(keyOf(hold)) ?? 0) + 1;
    counts.set(keyOf(hold), count);
    if (count > highestCount) highestCount = count;
  }
  let chosenKey = "";
  for (const hold of holds) if (counts.get(keyOf(hold)) === highestCount) chosenKey = keyOf(hold);
  return holds.filter((hold) => keyOf(hold) === chosenKey);
}

export function dropHold(hooks: HookCalls, holdId: number): HookCalls {
  return { ...hooks, holds: hooks.holds.filter((hold) => hold.id !== holdId) };
}

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

export function releaseRole(hooks: HookCalls, role: HookRole | "drain", actions: DrainAction[]): HookCalls {
  let next = hooks;
  for (const hold of hooks.holds) {
    if (hold.role === role && hold.stage === "held") next = releaseHold(next, hold, actions);
  }
  return next;
}

export function answerAll(hooks: HookCalls, actions: DrainAction[]): HookCalls {
  for (const hold of hooks.holds) actions.push({ kind: "answer", holdId: hold.id });
  return { ...hooks, holds: [] };
}

/**
 * Releases the holds that waited for a chained hook, because the hook has finished.
 *
 * @param isDraining whether a drain is running, in which a chained hook runs only once
 */
export function finishHook(
  hooks: HookCalls,
  container: string,
  isDraining: boolean,
  actions: DrainAction[],
): HookCalls {
  if (hooks.runningBefore.includes(container)) {
    const firstIndex = hooks.runningBefore.indexOf(container);
    return { ...hooks, runningBefore: hooks.runningBefore.filter((_, index) => index !== firstIndex) };
  }
  const running = hooks.running.filter((other) => other !== container);
  const finished = isDraining ? [...hooks.finished, container] : hooks.finished;
  const holds: Hold[] = [];
  for (const hold of hooks.holds) {
    if (hold.container !== container || hold.stage !== "hook-running") holds.push(hold);
    else actions.push({ kind: "answer", holdId: hold.id });
  }
  return { ...hooks, running, finished, holds };
}

/**
 * Resets all holds at the start of a drain: they wait for the end of the drain, and chained hooks run again even if they have
 * already run.
 */
export function resetHolds(hooks: HookCalls): HookCalls {
  const holds = hooks.holds.map((hold) => inStage(hold, "held"));
  return { ...hooks, holds, running: [], runningBefore: [...hooks.runningBefore, ...hooks.running] };
}

export function isWaitingHook(hold: Hold): boolean {
  return hold.role !== "drain" && hold.stage === "held";
}

export function isTerminationUnconfirmed(hooks: HookCalls): boolean {
  return hooks.endingContainers.length > 0 || hooks.holds.some(isWaitingHook);
}

/** Time from which an unconfirmed hook counts as a container restart. */
export function holdDueMs(relay: RelayStatus, hold: Hold): number {
  return Math.max(hold.dueMs, hold.atMs + confirmationWaitMs(relay));
}

export function endDueMs(relay: RelayStatus, end: EndingContainer): number {
  return Math.max(end.dueMs, end.fromMs + confirmationWaitMs(relay));
}

/** Time to wait until the relay confirms the Pod's deletion: a multiple of the time that the relay took to send its first status. */
function confirmationWaitMs(relay: RelayStatus): number {
  if (relay.requestedAtMs < 0) return 0;
  if (relay.responseMs < 0) return SIMULTANEOUS_HOOKS_WAIT_MS;
  return Math.min(SIMULTANEOUS_HOOKS_WAIT_MS, RESPONSE_FACTOR * relay.responseMs);
}

/** Earliest time at which a waiting hook counts as a container restart; -1 if no hook waits. */
export function restartDueMs(hooks: HookCalls, relay: RelayStatus): number {
  let dueMs = -1;
  for (const end of hooks.endingContainers) dueMs = sooner(dueMs, endDueMs(relay, end));
  for (const hold of hooks.holds) if (isWaitingHook(hold)) dueMs = sooner(dueMs, holdDueMs(relay, hold));
  return dueMs;
}

function sooner(dueMs: number, otherMs: number): number {
  return dueMs < 0 || otherMs < dueMs ? otherMs : dueMs;
}

/** Time from which missing hooks prove that the app containers have finished; -1 if missing hooks do not prove it. */
export function completionDueMs(settings: DrainSettings, hooks: HookCalls, drain: Drain): number {
  if (!settings.completes) return -1;
  // If the manager does not hold the hook of any app container, missing hooks are expected.
  if (!settings.hooks.some((hook) => hook.role === "app")) return -1;
  if (hooks.endingContainers.some((end) => end.role === "app") || hooks.holds.some((hold) => hold.role === "app"))
    return -1;
  return drain.triggeredAtMs + COMPLETION_MS;
}
