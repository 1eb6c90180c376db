/** Waits for a change that a fake reports, and resumes in the same turn, because scenarios run on a virtual clock. */
import { EVENTUALLY_LIMIT_MS } from "./eventually.ts";

export type Changes = {
  /** Rechecks all waiting conditions. */
  readonly notify: () => void;
  /** Waits until the check returns a value. @throws with this message when the limit is reached */
  readonly waitFor: <T>(check: () => T | undefined, message: () => string) => Promise<T>;
};

export function createChanges(): Changes {
  const checks = new Set<() => void>();
  return {
    notify: () => {
      for (const check of checks) check();
    },
    waitFor: (check, message) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          checks.delete(recheck);
          reject(new Error(`did not come within ${EVENTUALLY_LIMIT_MS / 1_000} s: ${message()}`));
        }, EVENTUALLY_LIMIT_MS).unref();
        const recheck = () => {
          const value = check();
          if (value === undefined) return;
          clearTimeout(limit);
          checks.delete(recheck);
          resolve(value);
        };
        checks.add(recheck);
        recheck();
      }),
  };
}
