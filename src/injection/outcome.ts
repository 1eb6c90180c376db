/** What comes out of an injection, whichever door the Pod came through. */
import type { Operation } from "fast-json-patch";
import { LONGEST_NAME_LIST } from "../policy/codecs.ts";
import type { PodPolicy } from "../policy/fields.ts";
import type { Problem } from "../policy/problem.ts";
import type { Origin } from "../policy/resolve.ts";

/** The mode that was chosen for this Pod in this cluster. */
export type Mode = "native" | "classic" | "sleep";

/** Everything `explain`, the log line and the report want to know about one decision. */
export type Explanation = {
  readonly policy: PodPolicy;
  readonly origin: Origin;
  readonly problems: readonly Problem[];
};

export type Outcome =
  | { readonly kind: "unchanged"; readonly reason: SkipReason; readonly explanation: Explanation }
  | {
      readonly kind: "patched";
      readonly mode: Mode;
      /** The changed Pod; shares every part that did not change with the Pod received. */
      readonly pod: object;
      readonly patch: readonly Operation[];
      /** The patch as JSON. */
      readonly patchText: string;
      readonly explanation: Explanation;
    }
  | { readonly kind: "refused"; readonly message: string; readonly explanation: Explanation };

/** Of the patch as JSON. etcd takes objects of 1.5 MiB: a Pod of which more than that is new cannot be stored. */
export const PATCH_LIMIT_BYTES = 1_572_864;

/** Why a Pod was left alone, in the order the checks are made. The key is for metrics and Events, the sentence for people. */
export const SKIP_REASONS = {
  disabled: "injection is switched off for this Pod by its label or annotation",
  not_enabled: "neither the namespace nor the Pod has opted in",
  system_namespace: "system namespaces and lastcall's own are never touched",
  mirror_pod: "a mirror Pod only reflects a file on its node",
  too_many_containers: `it has more than ${LONGEST_NAME_LIST} containers`,
  windows: "the manager's image runs on Linux only",
  host_network: "with hostNetwork the manager's port would be open on the node",
  zero_grace: "a grace period of 0 asks for an immediate kill, so no hook would run",
  runs_to_completion: "the Pod runs to completion and does not ask for injection itself",
  classic_would_block_completion: "without native sidecars the manager would keep the Pod from completing",
  name_taken: "a container that lastcall did not add is named lastcall",
  port_conflict: "no port is free for the manager in its range",
  image_unpullable: "nodes cannot pull the manager's image for this namespace, and a Pod with it would not start",
  own_hooks: "every container keeps its own preStop hook and no driver is set",
  limit_range_conflict: "a LimitRange of the namespace leaves no room for the manager",
  invalid_value: "a value cannot be read and the cluster is configured to skip such Pods",
  invalid_pod: "the object is not a Pod the API server would accept",
  patch_too_large: `what would change is longer than ${PATCH_LIMIT_BYTES} bytes, more than the API server can store`,
  up_to_date: "the Pod is injected already and nothing would change",
} as const;

export type SkipReason = keyof typeof SKIP_REASONS;
