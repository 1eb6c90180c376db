/** Input of an injection: the Pod, and facts about the cluster. */
import type { IssueRelayAccess } from "../contract/relay-access.ts";
import type { LimitRange } from "../kubernetes/limit-range.ts";
import type { PullPolicy } from "../kubernetes/pod.ts";
import { NAME_LIST_LIMIT } from "../policy/codecs.ts";
import type { Problem } from "../policy/problem.ts";
import type { Layer } from "../policy/resolve.ts";
import { PATCH_LIMIT_BYTES } from "./outcome.ts";

export type InjectionRequest = {
  /** The raw object: a typed model would drop unknown fields. */
  readonly pod: object;
  readonly podName?: string | undefined;
  /** From the admission request, because `metadata.namespace` may be absent. */
  readonly namespace: string;
  /** `label`: the Pod needs the opt-in label. `all`: every reviewed Pod is injected. */
  readonly optIn: "label" | "all";
  /** Annotations of the namespace, and its labels for Istio's injection; empty when unknown. */
  readonly namespaceAnnotations: Readonly<Record<string, unknown>>;
  readonly overrides: readonly Layer[];
  /** Absent if lastcall runs without a relay. Existing relay variables of the manager then stay. */
  readonly issueRelayAccess?: IssueRelayAccess | undefined;
  /** Default: {@link LIMITS}. Measurements of large Pods set larger limits. */
  readonly limits?: Limits;
};

export type Randomness = {
  /** 32 random hexadecimal characters; reproducible in golden tests. */
  readonly newToken: () => string;
};

export type ClusterFacts = {
  readonly apiServerVersion: string;
  /** Lowest version of all Linux nodes; `undefined` when the list is empty or stale. */
  readonly lowestKubeletVersion: string | undefined;
  /** Runtime of a Linux node without support for image volumes, such as `containerd://1.7.2`. */
  readonly runtimeWithoutImageVolumes?: string | undefined;
  readonly managerImage: string;
  /** If absent, the API server derives the policy from the image's tag. */
  readonly managerPullPolicy?: PullPolicy | undefined;
  /** Added to injected Pods; the Secrets have to exist in the Pod's namespace. */
  readonly pullSecrets?: readonly string[];
  /** Pods of these namespaces are never injected; includes lastcall's own namespace. */
  readonly systemNamespaces: readonly string[];
  readonly limitRanges?: readonly LimitRange[];
  /** Error of a node that could not pull the manager's image in this namespace; absent while pulls succeed. */
  readonly imagePullError?: string | undefined;
  readonly problems?: readonly Problem[];
};

export type Limits = { readonly containers: number; readonly patchBytes: number };

export const LIMITS: Limits = { containers: NAME_LIST_LIMIT, patchBytes: PATCH_LIMIT_BYTES };
