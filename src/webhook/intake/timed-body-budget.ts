/** Checks the body budget for slow bodies every second while one is incomplete. */
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";

const CHECK_MS = 1_000;

export function timedBodyBudget(nowMs: () => number): BodyBudget {
  const shelf = createBodyBudget();
  let isWaiting = false;
  const wait = (): void => {
    isWaiting = true;
    // First reads what arrived while the event loop was blocked, or that time would count as slowness of the client.
    setTimeout(() => setImmediate(check), CHECK_MS).unref();
  };
  const check = (): void => {
    shelf.cutSlow(nowMs());
    isWaiting = false;
    if (shelf.unfinished() > 0) wait();
  };
  return {
    ...shelf,
    reserve: (from, cut) => {
      if (!isWaiting) wait();
      return shelf.reserve(from, cut);
    },
  };
}

export function later(ms: number, act: () => void): void {
  setTimeout(act, ms).unref();
}
