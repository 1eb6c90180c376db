/** Lets admissions that arrived together run together, one right after the other. */

/** Resolves once everything that has already arrived has been read from the network. */
export type Turn = () => Promise<void>;

/**
 * An admission runs through so much code that bringing it into the processor's caches costs three times what running
 * it does, and reading the next request drives it out again. Requests that wait at the same time share that cost; one
 * that comes alone waits for nothing.
 */
export function sharedTurn(): Turn {
  let next: Promise<void> | undefined;
  return () => {
    next ??= new Promise((resolve) => {
      // Runs right after the sockets that are readable now have been read.
      setImmediate(() => {
        next = undefined;
        resolve();
      });
    });
    return next;
  };
}
