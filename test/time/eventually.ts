/** The one way in which a test waits for something to happen. Time that only has to pass is `pause.ts`. */

/**
 * Reached only where the thing never comes: a machine may be busy with ten other suites, or stand still for seconds. The
 * limit of a whole test is longer, so that this one is first to say what was waited for.
 */
export const EVENTUALLY_LIMIT_MS = 100_000;
const BETWEEN_LOOKS_MS = 20;

/**
 * Looks until the look throws no more; expectations belong into it, for they say what they saw.
 *
 * @returns what the look returned
 * @throws what the last look threw, once the limit is over; also where that look never ends
 */
export const eventually = lookingFor(EVENTUALLY_LIMIT_MS);

/** @param limitMs is another one only where `eventually` itself is tested */
export function lookingFor(limitMs: number): <T>(look: () => T | Promise<T>) => Promise<T> {
  return (look) => {
    // Made here, and not when the time is over: its stack names the line that waits.
    const gaveUp = new Error();
    return new Promise((resolve, reject) => {
      let isOver = false;
      let last: unknown = "the first look did not end";
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
          const found = await look();
          clearTimeout(limit);
          resolve(found);
        } catch (error) {
          last = error;
          if (!isOver) next = setTimeout(again, BETWEEN_LOOKS_MS);
        }
      };
      void again();
    });
  };
}

function messageOf(seen: unknown): string {
  return seen instanceof Error ? seen.message : String(seen);
}
