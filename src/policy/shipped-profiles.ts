/** Profiles that every cluster has: sets of values for kinds of work that need others than the defaults. */

type ShippedProfile = {
  /** Completes "For …". */
  readonly purpose: string;
  /** By the names that people write. */
  readonly values: Readonly<Record<string, string>>;
  /** Why these, in one or two sentences. */
  readonly reason: string;
};

/** A profile of the cluster's configuration with the same name takes its place as a whole. */
export const SHIPPED_PROFILES: Readonly<Record<string, ShippedProfile>> = {
  spot: {
    purpose: "nodes that are taken back at 30 s of notice, as GKE's and AKS's are",
    values: { "drain-delay": "5s", "drain-timeout": "10s" },
    reason: "With an app that ends in 10 s, delay, timeout and 5 s of margin fit into the notice.",
  },
  dev: {
    purpose: "clusters of one machine and previews, where a rollout should be over at once",
    values: { "drain-delay": "1s", "quiet-period": "500ms", "drain-timeout": "5s" },
    reason: "One proxy learns of the endpoint within a second. A client that stays is not waited for.",
  },
  singleton: {
    purpose: "a single replica, whose successor starts when it is gone",
    values: { "drain-delay": "0s", "quiet-period": "500ms", "drain-timeout": "30s" },
    reason:
      "No other Pod takes over while it waits, so each second of delay is one without service. Open work is still finished.",
  },
  edge: {
    purpose: "Pods that a load balancer outside the cluster reaches directly",
    values: { "deregistration-delay": "30s", "drain-timeout": "120s" },
    reason:
      "Load balancers of clouds go on sending for 10 to 30 s after a target is taken out, and their clients keep connections long.",
  },
  "long-work": {
    purpose: "uploads, exports, long polls and consumers with long jobs",
    values: { "drain-timeout": "530s" },
    reason:
      "With 5 s of delay and an app that has 30 s to end, the grace period stays below the 600 s for which cluster-autoscaler waits.",
  },
};
