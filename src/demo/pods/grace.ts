/** The kubelet's arithmetic with a grace period: whole seconds, cut off, and a floor before every stop signal. */

/** A container is given at least this long between its stop signal and SIGKILL (`minimumGracePeriodInSeconds`). */
export const FLOOR_SECONDS = 2;

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
