/** Pods and what must become of them, for a real API server: asked about, let in, reported. */

export type PodCase = {
  readonly says: string;
  readonly namespace: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** What the working webhook makes of it; `not asked` is also let in when the webhook is needed and away. */
  readonly outcome: "injected" | "left alone" | "not asked";
  /** The policy reports it when it was let in as it is. */
  readonly reported: boolean;
};

const label = (value: string) => ({ labels: { "lastcall.dev/inject": value } });
const note = (key: string, value: string) => ({ annotations: { [key]: value } });
const hook = { preStop: { exec: { command: ["/bin/stop"] } } };

const nodesOf = (...values: readonly string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/os", operator: "In", values }] }],
    },
  },
});

/** `shop` is opted in, `plain` is not. */
export const POD_CASES: readonly PodCase[] = [
  { says: "a Pod of an opted-in namespace", namespace: "shop", outcome: "injected", reported: true },
  {
    says: "a Pod with other labels",
    namespace: "shop",
    metadata: { labels: { app: "web" } },
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod with other annotations",
    namespace: "shop",
    metadata: note("a", "b"),
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod that opts in twice",
    namespace: "shop",
    metadata: label("enabled"),
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod of Linux",
    namespace: "shop",
    spec: { os: { name: "linux" }, nodeSelector: { "kubernetes.io/os": "linux" } },
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod that sleeps",
    namespace: "shop",
    metadata: note("lastcall.dev/mode", "sleep"),
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod that opts out by label",
    namespace: "shop",
    metadata: label("disabled"),
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod that opts out by annotation",
    namespace: "shop",
    metadata: note("lastcall.dev/inject", "disabled"),
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a mirror Pod",
    namespace: "shop",
    metadata: note("kubernetes.io/config.mirror", "x"),
    spec: { nodeName: "n1" },
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod of Windows",
    namespace: "shop",
    spec: { os: { name: "windows" } },
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod for Windows nodes",
    namespace: "shop",
    spec: { nodeSelector: { "kubernetes.io/os": "windows" } },
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod for Windows nodes by their old label",
    namespace: "shop",
    spec: { nodeSelector: { "beta.kubernetes.io/os": "windows" } },
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod that only fits Windows nodes",
    namespace: "shop",
    spec: { affinity: nodesOf("windows") },
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod that fits nodes of two systems",
    namespace: "shop",
    spec: { affinity: nodesOf("windows", "linux") },
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod on the host's network",
    namespace: "shop",
    spec: { hostNetwork: true },
    outcome: "left alone",
    reported: false,
  },
  {
    says: "a Pod that is killed at once",
    namespace: "shop",
    spec: { terminationGracePeriodSeconds: 0 },
    outcome: "left alone",
    reported: false,
  },
  {
    says: "a Pod that runs to completion",
    namespace: "shop",
    spec: { restartPolicy: "Never" },
    outcome: "left alone",
    reported: false,
  },
  {
    says: "a Pod that runs to completion and asks by label",
    namespace: "shop",
    metadata: label("enabled"),
    spec: { restartPolicy: "Never" },
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod that runs to completion and asks by annotation",
    namespace: "shop",
    metadata: note("lastcall.dev/inject", "enabled"),
    spec: { restartPolicy: "OnFailure" },
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod with hooks of its own",
    namespace: "shop",
    spec: { containers: [{ name: "app", image: "app", lifecycle: hook }] },
    outcome: "left alone",
    reported: false,
  },
  { says: "a Pod of a namespace that did not opt in", namespace: "plain", outcome: "not asked", reported: false },
  {
    says: "a Pod that opts in elsewhere",
    namespace: "plain",
    metadata: label("enabled"),
    outcome: "injected",
    reported: true,
  },
  {
    says: "a Pod that opts in where nothing is touched",
    namespace: "kube-system",
    metadata: label("enabled"),
    outcome: "not asked",
    reported: false,
  },
  {
    says: "a Pod that opts in beside the webhook",
    namespace: "lastcall",
    metadata: label("enabled"),
    outcome: "not asked",
    reported: false,
  },
];

export function podOf({ namespace, metadata, spec }: PodCase): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace, ...metadata },
    spec: { containers: [{ name: "app", image: "app" }], ...spec },
  };
}
