/** The only way in which a test waits for an event. `pause.ts` lets time pass. */

/**
 * Reached only if the event never happens: a host may be busy with ten other suites, or pause for seconds. The
 * limit of a whole test is longer, so that this one reports the awaited event first.
 */
export const EVENTUALLY_LIMIT_MS = 100_000;
const BETWEEN_CHECKS_MS = 20;

/**
 * Repeats the check until it no longer throws; expectations belong into it, since they report the last value.
 *
 * @returns the result of the check
 * @throws the last error at the limit, even if the last check never settles
 */
export const eventually = eventuallyWithin(EVENTUALLY_LIMIT_MS);

/** @param limitMs differs only in tests of `eventually` itself */
export function eventuallyWithin(limitMs: number): <T>(check: () => T | Promise<T>) => Promise<T> {
  return (check) => {
    // Created here and not at the limit, so that its stack names the waiting line.
    const gaveUp = new Error();
    return new Promise((resolve, reject) => {
      let isOver = false;
      let last: unknown = "the first check did not settle";
      let next: NodeJS.Timeout;
      const limit = setTimeout(() => {
        isOver = true;
        clearTimeout(next);
        gaveUp.message = `did not come within ${limitMs / 1_000} s; seen last: ${messageOf(last)}`;
        gaveUp.cause = last;
        reject(gaveUp);
      }, limitMs);
      const again = async () => {
        try {
          const found = await check();
          clearTimeout(limit);
          resolve(found);
        } catch (error) {
          last = error;
          if (!isOver) next = setTimeout(again, BETWEEN_CHECKS_MS);
        }
      };
      void again();
    });
  };
}

function messageOf(seen: unknown): string {
  return seen instanceof Error ? seen.message : String(seen);
}
