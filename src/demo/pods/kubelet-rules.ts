/** How the kubelet stops and restarts containers: stop signals, grace periods, restart delays. Pure. */

/** An image's STOPSIGNAL, or a Pod's `lifecycle.stopSignal`. */
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** Those that servers stop at; the API knows the others too. */
export const STOP_SIGNALS = ["SIGTERM", "SIGQUIT", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP"] as const;

export const DEFAULT_STOP_SIGNAL: StopSignal = "SIGTERM";

/** `undefined` when `text` is not one of {@link STOP_SIGNALS}. */
export function stopSignalOf(text: string): StopSignal | undefined {
  return STOP_SIGNALS.find((signal) => signal === text);
}

/** A container is given at least this long between its stop signal and SIGKILL (`minimumGracePeriodInSeconds`). */
const FLOOR_SECONDS = 2;

/** What is left of `graceSeconds` after something took `elapsedMs`: the kubelet takes off whole seconds only. */
export function graceAfter(graceSeconds: number, elapsedMs: number): number {
  return graceSeconds - Math.trunc(elapsedMs / 1_000);
}

/** How long the container may live after its stop signal. */
export function stopSeconds(remainingSeconds: number): number {
  return Math.max(FLOOR_SECONDS, remainingSeconds);
}

/** An absent grace period in a Pod means 30 s: the API server writes that default. */
export function podGraceSeconds(fromSpec: number | undefined): number {
  return fromSpec ?? 30;
}

/** The kubelet syncs Pods about once a second, and restarts a container without delay the first time. */
const FIRST_MS = 500;
const BACK_OFF_MS = 10_000;
const LONGEST_MS = 300_000;
/** A container that ran this long is forgiven. */
export const FORGIVEN_AFTER_MS = 600_000;

export type Restarts = {
  /** How often it was started again without being forgiven. */
  readonly count: number;
  readonly startedMs: number;
};

/** @param count restarts so far; they double the back-off up to 5 minutes */
export function restartDelayMs(count: number): number {
  return count === 0 ? FIRST_MS : Math.min(LONGEST_MS, BACK_OFF_MS * 2 ** (count - 1));
}

/** After an exit at `nowMs`: what counts for its next start. */
export function countedRestarts({ count, startedMs }: Restarts, nowMs: number): number {
  return nowMs - startedMs >= FORGIVEN_AFTER_MS ? 0 : count;
}
