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
