/** Is the Pod ending, or is one container only being restarted? Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { Join } from "./drain-state.ts";

/** A restart touches one container; a Pod's end starts every hook within milliseconds. */
const TOGETHER_MS = 1_000;
/** Starting an exec hook can take seconds on a busy node, so a lone app hook is given that long. */
export const LONE_HOOK_MS = 5_000;
/** In a Pod that runs to completion, app hooks that have not come by then belong to containers that have finished. */
const COMPLETION_MS = 2_000;

/**
 * Notes a hook. Of several calls that wait at once the first one counts: repetitions must not postpone the restart
 * rule. Where the earlier caller has gone, the new call is a new story.
 *
 * @param waits an earlier call of the container has not been answered
 */
export function withJoin(joins: readonly Join[], join: Join, waits: boolean): readonly Join[] {
  if (waits && joins.some((other) => other.container === join.container)) return joins;
  return [...withoutJoin(joins, join.container), join];
}

export function withoutJoin(joins: readonly Join[], container: string): readonly Join[] {
  return joins.filter((join) => join.container !== container);
}

/** Hooks of two different containers close together. */
export function twoContainersEnd(joins: readonly Join[]): boolean {
  for (const one of joins) {
    for (const other of joins) {
      if (one.container !== other.container && Math.abs(one.atMs - other.atMs) <= TOGETHER_MS) return true;
    }
  }
  return false;
}

/** When the oldest lone hook has to be taken for a restart; -1 when none waits. */
export function restartDueMs(joins: readonly Join[]): number {
  let dueMs = -1;
  for (const join of joins) {
    const atMs = join.atMs + LONE_HOOK_MS;
    if (dueMs < 0 || atMs < dueMs) dueMs = atMs;
  }
  return dueMs;
}

/** When the missing app hooks prove that the app containers have finished; -1 when they prove nothing. */
export function completionDueMs(settings: DrainSettings, joins: readonly Join[], triggeredAtMs: number): number {
  if (!settings.completes) return -1;
  // Without an app container that has our hook, a missing hook says nothing.
  if (!settings.hooks.some((hook) => hook.role === "app")) return -1;
  if (joins.some((join) => join.role === "app")) return -1;
  return triggeredAtMs + COMPLETION_MS;
}
