/** Checks the body budget for slow bodies every second while a body is incomplete. */
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";

const CHECK_MS = 1_000;

export function timedBodyBudget(nowMs: () => number): BodyBudget {
  const budget = createBodyBudget();
  let isCheckScheduled = false;
  const scheduleCheck = (): void => {
    isCheckScheduled = true;
    // `setImmediate` runs after Node has read the bytes that arrived while the event loop was blocked, so these bytes count.
    setTimeout(() => setImmediate(check), CHECK_MS).unref();
  };
  const check = (): void => {
    budget.rejectSlow(nowMs());
    isCheckScheduled = false;
    if (budget.incompleteBodyCount() > 0) scheduleCheck();
  };
  return {
    ...budget,
    reserve: (start, reject) => {
      if (!isCheckScheduled) scheduleCheck();
      return budget.reserve(start, reject);
    },
  };
}

export function schedule(ms: number, callback: () => void): void {
  setTimeout(callback, ms).unref();
}
