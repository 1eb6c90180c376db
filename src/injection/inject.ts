import type { ClusterConfig } from "../policy/cluster-config.ts";
import type { Layer } from "../policy/resolve.ts";
import type { Outcome } from "./outcome.ts";

/** What the injector must know about the cluster; pure data, gathered by the caller. */
export type ClusterFacts = {
  /** The API server's version, e.g. `1.32`; text such as `v1.31.4-eks-abc` is accepted. */
  readonly apiServerVersion: string;
  /** Lowest kubelet version of all Linux nodes; `undefined` when the list is empty or stale (then it is not believed). */
  readonly lowestKubeletVersion: string | undefined;
  readonly managerImage: string;
  /** Namespaces that are never touched, lastcall's own among them. */
  readonly systemNamespaces: readonly string[];
};

export type InjectionRequest = {
  /** The raw object as received; never passed through a typed model. */
  readonly pod: object;
  /** From the admission request: `metadata.namespace` may be absent. */
  readonly namespace: string;
  /** `label`: the Pod must carry the opt-in label itself. `all`: being asked is the opt-in. */
  readonly optIn: "label" | "all";
  /** Namespace annotations, if known. The Pod's own and the cluster's defaults are added by the injector. */
  readonly namespaceAnnotations: Readonly<Record<string, unknown>>;
  /** Flags of the command line or tests: nearer than the Pod. Usually empty. */
  readonly overrides: readonly Layer[];
};

export type Randomness = {
  /** 32 hexadecimal characters nobody can guess (or reproducible ones for golden files). */
  readonly newToken: () => string;
};

/** The whole way of a Pod through the product, with no input or output of its own. Deterministic given its arguments. */
export function injectPod(
  _request: InjectionRequest,
  _config: ClusterConfig,
  _facts: ClusterFacts,
  _randomness: Randomness,
): Outcome {
  throw new Error("not built yet");
}
