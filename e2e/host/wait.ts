/** Waits until a check of external state passes, or for a fixed time. */
import { setTimeout as pause } from "node:timers/promises";

export type Wait = {
  /** The awaited condition, for the message: `node n1 is Ready`. */
  readonly condition: string;
  readonly withinMs: number;
  readonly everyMs?: number;
};

/**
 * Resolves with the first value that is not `undefined`. A check that throws is repeated.
 *
 * @throws after `withinMs`, with the awaited condition and the last check's error; immediately after a {@link PermanentFailure}
 */
export async function waitUntil<T>(wait: Wait, check: Check<T>): Promise<T> {
  const endMs = performance.now() + wait.withinMs;
  for (;;) {
    const { value, lastError } = await checkOnce(check);
    if (value !== undefined) return value;
    if (performance.now() >= endMs) {
      throw new Error(`Timed out after ${wait.withinMs / 1000} s, waiting until ${wait.condition}.${lastError}`);
    }
    await pause(wait.everyMs ?? 100);
  }
}

/** Returns `undefined` if the condition is not met yet. */
export type Check<T> = () => Promise<T | undefined> | T | undefined;

/** A check throws it to end the wait immediately. */
export class PermanentFailure extends Error {}

async function checkOnce<T>(check: Check<T>): Promise<{ readonly value: T | undefined; readonly lastError: string }> {
  try {
    return { value: await check(), lastError: "" };
  } catch (error) {
    if (error instanceof PermanentFailure) throw error;
    return { value: undefined, lastError: ` Last error: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Waits for a fixed time, for cases without a condition to check. */
export function pauseMs(ms: number): Promise<void> {
  return pause(ms);
}
