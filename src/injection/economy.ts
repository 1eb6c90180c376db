/** What a plan gives up, step by step, when the record of it would grow beyond its limit. */
import type { Problem } from "../policy/problem.ts";
import { fitsLimit } from "./original-record.ts";
import type { Plan } from "./plan-request.ts";

export type Economy = {
  /** Containers keep their own hooks. */
  readonly keepsHooks: boolean;
  readonly leavesAnnotations: boolean;
  readonly leavesProbes: boolean;
};

export type Draft = {
  /** The record as it is written, in full. */
  readonly recordText: string;
  /** The rest, which is only made of the draft that is taken. */
  readonly plan: () => Plan;
};

const ECONOMIES: readonly Economy[] = [
  { keepsHooks: false, leavesAnnotations: false, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: false, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: true, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: true, leavesProbes: true },
];

/** The first draft whose record fits. What cannot be remembered is not replaced, and a problem says so. */
export function planWithinRecord(where: string, draftFor: (economy: Economy) => Draft): Plan {
  for (const [index, economy] of ECONOMIES.entries()) {
    const draft = draftFor(economy);
    if (!fitsLimit(draft.recordText) && index < ECONOMIES.length - 1) continue;
    const plan = draft.plan();
    if (index === 0) return plan;
    const kept = economy.leavesProbes ? "hooks, annotations and probes" : "hooks";
    const message = `What would have to be remembered exceeds 4 KiB, so its ${kept} stay as they are.`;
    const problem: Problem = { code: "original_too_large", where, message };
    return { ...plan, problems: [...plan.problems, problem] };
  }
  throw new Error("the list of economies is empty");
}
