/** Lets admissions that arrived together run together, one right after the other, and large ones one at a time. */

/** Resolves once everything that has already arrived has been read from the network, and it is this body's turn. */
export type Turn = (bytes: number) => Promise<void>;

/** A review of this size is parsed in half a millisecond, the largest in a hundred times that. */
export const LARGE_BYTES = 64 * 1024;

/**
 * An admission runs through so much code that bringing it into the processor's caches costs three times what running
 * it does, and reading the next request drives it out again. Requests that wait at the same time share that cost; one
 * that comes alone waits for nothing. Of the large ones a turn has one, its last: ordinary Pods wait for one of them at
 * most, and only one of them is in memory as objects.
 */
export function sharedTurn(): Turn {
  let next: Promise<void> | undefined;
  const large: (() => void)[] = [];
  const ordinary = (): Promise<void> => {
    next ??= new Promise((resolve) => {
      // Runs right after the sockets that are readable now have been read.
      setImmediate(() => {
        next = undefined;
        resolve();
      });
    });
    return next;
  };
  const runOneLarge = (): void => {
    void ordinary().then(() => {
      large.shift()?.();
      if (large.length > 0) runOneLarge();
    });
  };
  return (bytes) => {
    if (bytes <= LARGE_BYTES) return ordinary();
    return new Promise((resolve) => {
      large.push(resolve);
      if (large.length === 1) runOneLarge();
    });
  };
}
