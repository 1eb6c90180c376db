/**
 * The only way in which a test lets time pass: as part of a scenario, or to check that nothing happens. To wait for an
 * event use `eventually`, since no fixed time is long enough on every host.
 */
import { setTimeout as over } from "node:timers/promises";

/** @param _why the reason, for the reader */
export function pause(ms: number, _why: string): Promise<void> {
  return over(ms);
}

/** The sleep of programs under test. It also ends when `signal` is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return over(ms, undefined, { signal }).catch(() => undefined);
}
