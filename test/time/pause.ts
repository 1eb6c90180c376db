/**
 * The one way in which a test lets time pass: as part of a scene, or to see that nothing happens in it. What only waits
 * for something to have happened is `eventually`, for no fixed time is long enough on every machine.
 */
import { setTimeout as over } from "node:timers/promises";

/** @param _why is for the reader: what the time is for */
export function pause(ms: number, _why: string): Promise<void> {
  return over(ms);
}

/** For programs under test that are given a way to sleep. It is over, too, when `signal` is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return over(ms, undefined, { signal }).catch(() => undefined);
}
