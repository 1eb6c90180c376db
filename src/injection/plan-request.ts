/** What a plan starts from, and what comes out: edits as data, or a reason to leave the Pod alone. */
import type { GiveRelayAccess } from "../contract/relay-access.ts";
import type { LimitRange } from "../kubernetes/limit-range.ts";
import { objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import type { PodPolicy } from "../policy/pod-policy.ts";
import type { Problem } from "../policy/problem.ts";
import type { Edit } from "./edit.ts";
import type { Injected } from "./injected.ts";
import type { OriginalRecord } from "./original-record.ts";
import type { Mode, SkipReason } from "./outcome.ts";

export type PlanRequest = {
  /** The Pod without anything of ours. */
  readonly pod: RawObject;
  /** What an earlier pass had left in it. */
  readonly injected: Injected | undefined;
  readonly policy: PodPolicy;
  readonly mode: Mode;
  readonly image: string;
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
export function originalGrace({ pod, injected }: PlanRequest): OriginalRecord["grace"] {
  if (injected !== undefined) return injected.record.grace;
  const seconds = objectAt(pod, "spec")?.["terminationGracePeriodSeconds"];
  return typeof seconds === "number" ? seconds : null;
}

/** Never lowered: another program may have raised it further since. */
export function atLeastStanding(pod: RawObject, seconds: number): number {
  const standing = objectAt(pod, "spec")?.["terminationGracePeriodSeconds"];
  return typeof standing === "number" ? Math.max(standing, seconds) : seconds;
}
