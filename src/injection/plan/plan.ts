/** What a plan starts from and what comes out, within the size its record may have. */
import type { GiveRelayAccess } from "../../contract/relay-access.ts";
import type { LimitRange } from "../../kubernetes/limit-range.ts";
import type { PullPolicy } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import type { PodPolicy } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import type { Mode, SkipReason } from "../outcome.ts";
import type { Edit } from "../record/edit.ts";
import type { ExistingInjection } from "../record/existing-injection.ts";
import { fitsLimit, type OriginalRecord } from "../record/original-record.ts";

export type PlanRequest = {
  /** The Pod without anything of ours. */
  readonly pod: RawObject;
  /** What an earlier pass had left in it. */
  readonly existing: ExistingInjection | undefined;
  readonly policy: PodPolicy;
  readonly mode: Mode;
  readonly image: string;
  readonly pullPolicy: PullPolicy | undefined;
  readonly pullSecrets: readonly string[] | undefined;
  readonly apiServerVersion: string;
  readonly lowestKubeletVersion: string | undefined;
  readonly oldRuntime: string | undefined;
  readonly imageTrouble: string | undefined;
  readonly namespaceAnnotations: RawObject;
  /** Of the namespace, as far as they are known. */
  readonly limitRanges: readonly LimitRange[];
  /** For messages, such as `pod web-0`. */
  readonly where: string;
  readonly newToken: () => string;
  readonly namespace: string;
  readonly giveRelayAccess: GiveRelayAccess | undefined;
};

export type Plan =
  | { readonly kind: "edits"; readonly edits: readonly Edit[]; readonly problems: readonly Problem[] }
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly problems: readonly Problem[] };

/** The Pod's own grace period as it was written, or null. A later pass goes by what the first one noted. */
export function originalGrace({ pod, existing }: PlanRequest): OriginalRecord["grace"] {
  if (existing !== undefined) return existing.record.grace;
  const seconds = objectAt(pod, "spec")?.["terminationGracePeriodSeconds"];
  return typeof seconds === "number" ? seconds : null;
}

/** Never lowered: another program may have raised it further since. */
export function atLeastExisting(pod: RawObject, seconds: number): number {
  const existing = objectAt(pod, "spec")?.["terminationGracePeriodSeconds"];
  return typeof existing === "number" ? Math.max(existing, seconds) : seconds;
}

export type Omissions = {
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

const OMISSIONS: readonly Omissions[] = [
  { keepsHooks: false, leavesAnnotations: false, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: false, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: true, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: true, leavesProbes: true },
];

/** The first draft whose record fits. What cannot be remembered is not replaced, and a problem says so. */
export function planWithinSizeBudget(where: string, draftFor: (omissions: Omissions) => Draft): Plan {
  for (const [index, omissions] of OMISSIONS.entries()) {
    const draft = draftFor(omissions);
    if (!fitsLimit(draft.recordText) && index < OMISSIONS.length - 1) continue;
    const plan = draft.plan();
    if (index === 0) return plan;
    const kept = omissions.leavesProbes ? "hooks, annotations and probes" : "hooks";
    const message = `What would have to be remembered exceeds 4 KiB, so its ${kept} stay as they are.`;
    const problem: Problem = { code: "original_too_large", where, message };
    return { ...plan, problems: [...plan.problems, problem] };
  }
  throw new Error("the list of omissions is empty");
}
