/** Rules of the kubelet for stops and restarts of containers. Pure. */

/** Signals that stop servers; the API permits more. */
export const STOP_SIGNALS = ["SIGTERM", "SIGQUIT", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP"] as const;

export type StopSignal = (typeof STOP_SIGNALS)[number];

export function stopSignalOf(text: string): StopSignal | undefined {
  return STOP_SIGNALS.find((signal) => signal === text);
}

/** Least time from the stop signal to SIGKILL (`minimumGracePeriodInSeconds`). */
const FLOOR_SECONDS = 2;

/** The kubelet subtracts whole seconds only. */
export function graceAfter(graceSeconds: number, elapsedMs: number): number {
  return graceSeconds - Math.trunc(elapsedMs / 1_000);
}

/** Time from the stop signal to SIGKILL. */
export function stopSeconds(remainingSeconds: number): number {
  return Math.max(FLOOR_SECONDS, remainingSeconds);
}

/** 30 s is the default of the API server. */
export function podGraceSeconds(fromSpec: number | undefined): number {
  return fromSpec ?? 30;
}

/** The kubelet syncs Pods about once a second; the first restart has no other delay. */
const FIRST_MS = 500;
const BACK_OFF_MS = 10_000;
const LONGEST_MS = 300_000;
/** Restarts of a container that ran this long no longer count. */
export const FORGIVEN_AFTER_MS = 600_000;

export type Restarts = {
  readonly count: number;
  readonly startedMs: number;
};

/** @param count restarts so far: each doubles the back-off, up to 5 minutes */
export function restartDelayMs(count: number): number {
  return count === 0 ? FIRST_MS : Math.min(LONGEST_MS, BACK_OFF_MS * 2 ** (count - 1));
}

/** Restarts that delay the next start, after an exit at `nowMs`. */
export function countedRestarts({ count, startedMs }: Restarts, nowMs: number): number {
  return nowMs - startedMs >= FORGIVEN_AFTER_MS ? 0 : count;
}
