/** The shelf of bodies with a clock: it is looked at every second while bodies are under way, and never else. */
import { type BodyShelf, bodyShelf } from "./body-shelf.ts";

const LOOK_MS = 1_000;

/** @param nowMs monotonic milliseconds */
export function watchedShelf(nowMs: () => number): BodyShelf {
  const shelf = bodyShelf();
  let isWaiting = false;
  const wait = (): void => {
    isWaiting = true;
    // What came while this process had no turn is read first, or it would be held against its sender.
    setTimeout(() => setImmediate(look), LOOK_MS).unref();
  };
  const look = (): void => {
    shelf.look(nowMs());
    isWaiting = false;
    if (shelf.unfinished() > 0) wait();
  };
  return {
    ...shelf,
    take: (from, cut) => {
      if (!isWaiting) wait();
      return shelf.take(from, cut);
    },
  };
}

/** Does not hold the process. */
export function later(ms: number, act: () => void): void {
  setTimeout(act, ms).unref();
}
