/** What an injection starts from: the Pod, and facts about the cluster that the caller gathered. */
import type { GiveRelayAccess } from "../contract/relay-access.ts";
import type { LimitRange } from "../kubernetes/limit-range.ts";
import type { PullPolicy } from "../kubernetes/pod.ts";
import { LONGEST_NAME_LIST } from "../policy/codecs.ts";
import type { Problem } from "../policy/problem.ts";
import type { Layer } from "../policy/resolve.ts";
import { PATCH_LIMIT_BYTES } from "./outcome.ts";

export type InjectionRequest = {
  /** The raw object as received; never passed through a typed model. */
  readonly pod: object;
  /** How messages name a Pod template, such as `of Deployment/web`; absent: by the Pod's own name. */
  readonly podName?: string | undefined;
  /** From the admission request: `metadata.namespace` may be absent. */
  readonly namespace: string;
  /** `label`: the Pod must carry the opt-in label itself. `all`: being asked is the opt-in. */
  readonly optIn: "label" | "all";
  /** Of the namespace, if known: its annotations, and among them the labels by which Istio injects. */
  readonly namespaceAnnotations: Readonly<Record<string, unknown>>;
  /** Flags of the command line or tests: nearer than the Pod. Usually empty. */
  readonly overrides: readonly Layer[];
  /** Absent where there is no relay: what a Pod carries of one then stays. */
  readonly giveRelayAccess?: GiveRelayAccess | undefined;
  /** Others than the usual ones, to see what a larger Pod would take. */
  readonly limits?: Limits;
};

export type Randomness = {
  /** 32 hexadecimal characters that no one can guess (or reproducible ones for golden files). */
  readonly newToken: () => string;
};

/** What the injector must know about the cluster; pure data, gathered by the caller. */
export type ClusterFacts = {
  /** The API server's version, e.g. `1.32`; text such as `v1.31.4-eks-abc` is accepted. */
  readonly apiServerVersion: string;
  /** Lowest kubelet version of all Linux nodes; `undefined` when the list is empty or stale (then it is not believed). */
  readonly lowestKubeletVersion: string | undefined;
  /** Of a Linux node that cannot mount an image, as far as is known; such as `containerd://1.7.2`. */
  readonly oldRuntime?: string | undefined;
  readonly managerImage: string;
  /** Absent: the API server's default, which follows the image's tag. */
  readonly managerPullPolicy?: PullPolicy | undefined;
  /** Secrets that a Pod with the manager gets beside its own; they must be in the Pod's namespace. */
  readonly pullSecrets?: readonly string[];
  /** Namespaces that are never touched, lastcall's own among them. */
  readonly systemNamespaces: readonly string[];
  /** Those of the Pod's namespace; absent when there are none or none are known. */
  readonly limitRanges?: readonly LimitRange[];
  /** What a node said when it could not pull the manager's image for a Pod of this namespace; absent while it can. */
  readonly imageTrouble?: string | undefined;
  /** What could not be learnt about the cluster and the person should hear of. */
  readonly problems?: readonly Problem[];
};

export type Limits = { readonly containers: number; readonly patchBytes: number };

export const LIMITS: Limits = { containers: LONGEST_NAME_LIST, patchBytes: PATCH_LIMIT_BYTES };
