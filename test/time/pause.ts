/**
 * Tests wait for a fixed time only with these functions: as part of a scenario, or to check that nothing happens. To wait for an
 * event use `eventually`, because no fixed time is long enough on every host.
 */
import { setTimeout as setTimeoutPromise } from "node:timers/promises";

/** @param _why the reason, for the reader */
export function pause(ms: number, _why: string): Promise<void> {
  return setTimeoutPromise(ms);
}

/** The sleep of programs under test. Also ends when `signal` is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return setTimeoutPromise(ms, undefined, { signal }).catch(() => undefined);
}
