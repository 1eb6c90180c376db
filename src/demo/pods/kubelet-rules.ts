/** The kubelet's rules for stopping and restarting containers. Pure. */

/** Signals that servers handle as a stop request; the API permits more. */
export const STOP_SIGNALS = ["SIGTERM", "SIGQUIT", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP"] as const;

export type StopSignal = (typeof STOP_SIGNALS)[number];

export function stopSignalOf(text: string): StopSignal | undefined {
  return STOP_SIGNALS.find((signal) => signal === text);
}

/** Shortest time from the stop signal to SIGKILL (`minimumGracePeriodInSeconds`). */
const MIN_GRACE_SECONDS = 2;

/** The kubelet subtracts whole seconds only. */
export function remainingGraceSeconds(graceSeconds: number, elapsedMs: number): number {
  return graceSeconds - Math.trunc(elapsedMs / 1_000);
}

export function stopSeconds(remainingSeconds: number): number {
  return Math.max(MIN_GRACE_SECONDS, remainingSeconds);
}

export function podGraceSeconds(specifiedSeconds: number | undefined): number {
  return specifiedSeconds ?? 30;
}

/** The kubelet syncs Pods about once a second, which is the only delay of the first restart. */
const FIRST_RESTART_MS = 500;
const BACK_OFF_MS = 10_000;
const MAX_BACK_OFF_MS = 300_000;
/** The back-off of a container that ran this long is reset. */
export const BACK_OFF_RESET_MS = 600_000;

export type Restarts = {
  readonly count: number;
  readonly startedMs: number;
};

/** @param count restarts so far: each doubles the back-off, up to 5 minutes */
export function restartDelayMs(count: number): number {
  return count === 0 ? FIRST_RESTART_MS : Math.min(MAX_BACK_OFF_MS, BACK_OFF_MS * 2 ** (count - 1));
}

export function countedRestarts({ count, startedMs }: Restarts, nowMs: number): number {
  return nowMs - startedMs >= BACK_OFF_RESET_MS ? 0 : count;
}
