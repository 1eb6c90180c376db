/** The outcome of an injection, shared by webhook and command line. */
import type { Operation } from "fast-json-patch";
import { NAME_LIST_LIMIT } from "../policy/codecs.ts";
import type { PodPolicy } from "../policy/fields.ts";
import type { Problem } from "../policy/problem.ts";
import type { Origins } from "../policy/resolve.ts";

export type Mode = "native" | "classic" | "sleep";

/** Explains the outcome in `lastcall explain`, in the webhook's log and in the summary of `lastcall inject`. */
export type Explanation = {
  readonly policy: PodPolicy;
  readonly origins: Origins;
  readonly problems: readonly Problem[];
};

export type Outcome =
  | { readonly kind: "unchanged"; readonly reason: SkipReason; readonly explanation: Explanation }
  | {
      readonly kind: "patched";
      readonly mode: Mode;
      /** Shares unchanged objects with the received Pod. */
      readonly pod: object;
      readonly patch: readonly Operation[];
      readonly patchText: string;
      readonly explanation: Explanation;
    }
  | { readonly kind: "refused"; readonly message: string; readonly explanation: Explanation };

/** Limit of the patch as JSON: etcd refuses requests of more than 1.5 MiB. */
export const PATCH_LIMIT_BYTES = 1_572_864;

/** Reasons for not injecting a Pod, in the order of the checks. The keys are values of metric labels and stay stable. */
export const SKIP_REASONS = {
  disabled: "lastcall.dev/inject of the Pod or of its namespace is disabled",
  not_enabled: "neither the namespace nor the Pod opts in",
  system_namespace: "Pods of system namespaces and of lastcall's own namespace are never injected",
  mirror_pod: "a mirror Pod only represents a static Pod of its node",
  too_many_containers: `the Pod has more than ${NAME_LIST_LIMIT} containers`,
  windows: "the manager's image runs on Linux only",
  host_network: "with hostNetwork the manager's port would be open on the node",
  zero_grace: "with a grace period of 0 the kubelet kills the Pod immediately, so no hook would run",
  runs_to_completion: "the Pod runs to completion and does not itself opt in",
  classic_would_block_completion: "without native sidecars the manager would block the Pod's completion",
  drains_itself: "Knative's queue-proxy drains the Pod; lastcall.dev/prestop: replace injects the Pod anyway",
  name_taken: "another container of the Pod is named lastcall",
  port_conflict: "all ports from 17890 to 17989, which the manager can use, are in use",
  image_unpullable: "nodes cannot pull the manager's image in this namespace, so the Pod would not start",
  own_hooks: "every container keeps its own preStop hook and no driver is set",
  limit_range_conflict: "a LimitRange of the namespace leaves no room for the manager",
  invalid_value: "an annotation has an invalid value, and onInvalid is set to skip",
  invalid_pod: "the object is not a valid Pod",
  patch_too_large: `the patch is longer than ${PATCH_LIMIT_BYTES} bytes, more than the API server can store`,
  up_to_date: "the Pod is injected already and nothing would change",
} as const;

export type SkipReason = keyof typeof SKIP_REASONS;
