/** Tests wait for an event only with this function; `pause.ts` waits for a fixed time. */

/**
 * Long, because a host may be busy with ten other suites or pause for seconds. Shorter than the time limit of a whole test,
 * because an error of this function names the awaited event.
 */
export const EVENTUALLY_LIMIT_MS = 100_000;
const BETWEEN_CHECKS_MS = 20;

/**
 * Repeats the check until it does not throw. The check contains the expectation, whose error then contains the last value.
 *
 * @returns the result of the check
 * @throws the last error at the limit, even if the last check never settles
 */
export const eventually = eventuallyWithin(EVENTUALLY_LIMIT_MS);

/** @param limitMs a shorter limit for the tests of `eventually` */
export function eventuallyWithin(limitMs: number): <T>(check: () => T | Promise<T>) => Promise<T> {
  return (check) => {
    // Created before the wait, because its stack then contains the line of the test that waits.
    const timeoutError = new Error();
    return new Promise((resolve, reject) => {
      let isOver = false;
      let lastError: unknown = "the first check did not settle";
      let nextCheck: NodeJS.Timeout;
      const limit = setTimeout(() => {
        isOver = true;
        clearTimeout(nextCheck);
        timeoutError.message = `did not come within ${limitMs / 1_000} s; seen last: ${messageOf(lastError)}`;
        timeoutError.cause = lastError;
        reject(timeoutError);
      }, limitMs);
      const checkAgain = async () => {
        try {
          const result = await check();
          clearTimeout(limit);
          resolve(result);
        } catch (error) {
          lastError = error;
          if (!isOver) nextCheck = setTimeout(checkAgain, BETWEEN_CHECKS_MS);
        }
      };
      void checkAgain();
    });
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
