/** Where Pods get their addresses from. Two ways exist: a network namespace each, or a loopback address each. */

export type PodAttachment = {
  readonly address: string;
  /** The command line that runs `argv` where the Pod's sockets are. */
  readonly inside: (argv: readonly string[]) => readonly string[];
  /** Adapts the manager's arguments to a network shared by all Pods; the same list otherwise. */
  readonly managerArguments: (args: readonly string[]) => readonly string[];
  readonly release: () => void;
};

export type PodNetwork = {
  readonly kind: "namespace" | "loopback";
  /** Address of the Service: what clients connect to. */
  readonly serviceAddress: string;
  /** Address of the webhook's own Service: where Pods find the relay. */
  readonly webhookAddress: string;
  /** The kubelet's hooks and probes come from here, */
  readonly kubeletAddress: string;
  /** and traffic from here, so that a Pod can tell the two apart as it can in a cluster. */
  readonly trafficAddress: string;
  readonly attach: () => Promise<PodAttachment>;
};
