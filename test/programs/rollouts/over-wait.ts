/** How long a Pod was held although everything was done. Pure. */
import type { DrainSettings } from "./rollouts-request.ts";

export type HeldPod = {
  readonly deletedMs: number;
  readonly releasedMs: number;
  /** When slices stopped offering it; `undefined` when no one saw that. */
  readonly withdrawnMs: number | undefined;
  /** When a client last asked it, was answered by it or left it; `undefined` when none ever came. */
  readonly lastWorkMs: number | undefined;
};

/** Milliseconds past the drain delay, the withdrawal and the quiet period behind the last work; below 0: it was held less long. */
export function overWaitMs(pod: HeldPod, { delayMs, quietMs }: DrainSettings): number {
  const delayed = Math.max(pod.deletedMs + delayMs, pod.withdrawnMs ?? 0);
  const quiet = pod.lastWorkMs === undefined ? 0 : pod.lastWorkMs + quietMs;
  return Math.round(pod.releasedMs - Math.max(delayed, quiet));
}
