/** Declares the built-in profiles: values for workloads that need other values than the defaults. */

type ShippedProfile = {
  readonly purpose: string;
  readonly values: Readonly<Record<string, string>>;
  readonly reason: string;
};

/** A profile of the cluster configuration replaces the built-in profile of the same name completely. */
export const SHIPPED_PROFILES: Readonly<Record<string, ShippedProfile>> = {
  spot: {
    purpose: "spot nodes with 30 s of notice, as on GKE and AKS",
    values: { "drain-delay": "5s", "drain-timeout": "10s" },
    reason: "The drain delay, the drain timeout, 10 s for the app and a margin of 5 s fit into the notice.",
  },
  dev: {
    purpose: "single-node clusters and preview environments, where rollouts should be fast",
    values: { "drain-delay": "1s", "quiet-period": "500ms", patience: "1s", "drain-timeout": "5s" },
    reason:
      "The kube-proxy of the only node applies endpoint changes within a second. The drain waits only a second for clients that keep their connections open.",
  },
  singleton: {
    purpose: "a single replica, whose replacement starts after it has stopped",
    values: { "drain-delay": "0s", "quiet-period": "500ms", "drain-timeout": "30s" },
    reason:
      "No other Pod takes over during the delay, so it only extends the outage. Open requests are still finished.",
  },
  edge: {
    purpose: "Pods that are direct targets of a load balancer outside the cluster",
    values: { "deregistration-delay": "30s", "drain-timeout": "120s" },
    reason:
      "Cloud load balancers send requests for another 10 to 30 s after a target is removed, and their clients keep connections open for long.",
  },
  "long-work": {
    purpose: "uploads, exports, long polls and consumers with long jobs",
    values: { patience: "530s", "drain-timeout": "530s" },
    reason:
      "With a delay of 5 s and 30 s for the app, the grace period stays below the 600 s that cluster-autoscaler waits.",
  },
};
