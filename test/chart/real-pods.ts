/** Pods with their expected outcome at a real API server: selected, admitted, reported. */

export type PodCase = {
  readonly title: string;
  readonly namespace: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /**
   * The outcome with a working webhook; `not selected` is also admitted when the webhook is required and unreachable. The policy
   * reports those of `injected` that were admitted unchanged.
   */
  readonly outcome: "injected" | "skipped" | "not selected";
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

type Parts = Pick<PodCase, "metadata" | "spec">;

function row(title: string, namespace: string, outcome: PodCase["outcome"], parts: Parts = {}): PodCase {
  return { title, namespace, outcome, ...parts };
}

/** Namespace `shop` is opted in, `plain` is not. */
export const POD_CASES: readonly PodCase[] = [
  row("a Pod of an opted-in namespace", "shop", "injected"),
  row("a Pod with other labels", "shop", "injected", { metadata: { labels: { app: "web" } } }),
  row("a Pod with other annotations", "shop", "injected", { metadata: note("a", "b") }),
  row("a Pod that opts in twice", "shop", "injected", { metadata: label("enabled") }),
  row("a Pod of Linux", "shop", "injected", {
    spec: { os: { name: "linux" }, nodeSelector: { "kubernetes.io/os": "linux" } },
  }),
  row("a Pod that sleeps", "shop", "injected", { metadata: note("lastcall.dev/mode", "sleep") }),
  row("a Pod that opts out by label", "shop", "not selected", { metadata: label("disabled") }),
  row("a Pod that opts out by annotation", "shop", "not selected", {
    metadata: note("lastcall.dev/inject", "disabled"),
  }),
  row("a mirror Pod", "shop", "not selected", {
    metadata: note("kubernetes.io/config.mirror", "x"),
    spec: { nodeName: "n1" },
  }),
  row("a Pod of Windows", "shop", "not selected", { spec: { os: { name: "windows" } } }),
  row("a Pod for Windows nodes", "shop", "not selected", { spec: { nodeSelector: { "kubernetes.io/os": "windows" } } }),
  row("a Pod for Windows nodes by their old label", "shop", "not selected", {
    spec: { nodeSelector: { "beta.kubernetes.io/os": "windows" } },
  }),
  row("a Pod that only fits Windows nodes", "shop", "not selected", { spec: { affinity: nodesOf("windows") } }),
  row("a Pod that fits nodes of two systems", "shop", "injected", { spec: { affinity: nodesOf("windows", "linux") } }),
  row("a Pod on the host's network", "shop", "skipped", { spec: { hostNetwork: true } }),
  row("a Pod that is killed at once", "shop", "skipped", { spec: { terminationGracePeriodSeconds: 0 } }),
  row("a Pod that runs to completion", "shop", "skipped", { spec: { restartPolicy: "Never" } }),
  row("a Pod that runs to completion and asks by label", "shop", "injected", {
    metadata: label("enabled"),
    spec: { restartPolicy: "Never" },
  }),
  row("a Pod that runs to completion and asks by annotation", "shop", "injected", {
    metadata: note("lastcall.dev/inject", "enabled"),
    spec: { restartPolicy: "OnFailure" },
  }),
  row("a Pod with hooks of its own", "shop", "skipped", {
    spec: { containers: [{ name: "app", image: "app", lifecycle: hook }] },
  }),
  row("a Pod of a namespace that did not opt in", "plain", "not selected"),
  row("a Pod that opts in elsewhere", "plain", "injected", { metadata: label("enabled") }),
  row("a Pod that opts in where nothing is touched", "kube-system", "not selected", { metadata: label("enabled") }),
  row("a Pod that opts in beside the webhook", "lastcall", "not selected", { metadata: label("enabled") }),
];

export function podOf({ namespace, metadata, spec }: PodCase): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace, ...metadata },
    spec: { containers: [{ name: "app", image: "app" }], ...spec },
  };
}
