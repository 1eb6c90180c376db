/** Types of a plan, and the choice of a draft whose record fits the size limit. */
import type { IssueRelayAccess } from "../../contract/relay-access.ts";
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
  readonly pod: RawObject;
  readonly existing: ExistingInjection | undefined;
  readonly policy: PodPolicy;
  readonly mode: Mode;
  readonly image: string;
  readonly pullPolicy: PullPolicy | undefined;
  readonly pullSecrets: readonly string[] | undefined;
  readonly apiServerVersion: string;
  readonly lowestKubeletVersion: string | undefined;
  readonly runtimeWithoutImageVolumes: string | undefined;
  readonly imagePullError: string | undefined;
  readonly namespaceAnnotations: RawObject;
  readonly limitRanges: readonly LimitRange[];
  readonly where: string;
  readonly newToken: () => string;
  readonly namespace: string;
  readonly issueRelayAccess: IssueRelayAccess | undefined;
};

export type Plan =
  | { readonly kind: "edits"; readonly edits: readonly Edit[]; readonly problems: readonly Problem[] }
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly problems: readonly Problem[] };

/** Returns the Pod's own grace period, or null if it is not set. After an earlier injection it is the recorded value. */
export function originalGrace({ pod, existing }: PlanRequest): OriginalRecord["grace"] {
  if (existing !== undefined) return existing.record.grace;
  const seconds = objectAt(pod, "spec")?.["terminationGracePeriodSeconds"];
  return typeof seconds === "number" ? seconds : null;
}

/** Returns at least the present grace period, which another program may have raised. */
export function atLeastExisting(pod: RawObject, seconds: number): number {
  const existing = objectAt(pod, "spec")?.["terminationGracePeriodSeconds"];
  return typeof existing === "number" ? Math.max(existing, seconds) : seconds;
}

/** Changes that a plan leaves out, because their original values exceed the size limit of LASTCALL_ORIGINAL. */
export type Omissions = {
  readonly keepsHooks: boolean;
  readonly leavesAnnotations: boolean;
  readonly leavesProbes: boolean;
};

export type Draft = {
  readonly recordText: string;
  readonly plan: () => Plan;
};

const OMISSIONS: readonly Omissions[] = [
  { keepsHooks: false, leavesAnnotations: false, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: false, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: true, leavesProbes: false },
  { keepsHooks: true, leavesAnnotations: true, leavesProbes: true },
];

/** Returns the plan with the fewest omissions whose record of original values fits the limit. A problem reports the omissions. */
export function planWithinSizeBudget(where: string, draftFor: (omissions: Omissions) => Draft): Plan {
  for (const [index, omissions] of OMISSIONS.entries()) {
    const draft = draftFor(omissions);
    if (!fitsLimit(draft.recordText) && index < OMISSIONS.length - 1) continue;
    const plan = draft.plan();
    if (index === 0) return plan;
    const unchangedFields = omissions.leavesProbes ? "hooks, annotations and probes" : "hooks";
    const message = `The record of the original values exceeds 4 KiB, so ${unchangedFields} are not changed.`;
    const problem: Problem = { code: "original_too_large", where, message };
    return { ...plan, problems: [...plan.problems, problem] };
  }
  throw new Error("no draft of the plan was created");
}
