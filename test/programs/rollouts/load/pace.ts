/** An open loop: how many requests are due, whatever became of the earlier ones. Pure. */

/** @returns how many requests are due since the last question. */
export function createPace(perSecond: number, startMs: number): (nowMs: number) => number {
  let issued = 0;
  return (nowMs) => {
    const due = Math.floor(((nowMs - startMs) * perSecond) / 1_000) - issued;
    issued += due;
    return due;
  };
}
