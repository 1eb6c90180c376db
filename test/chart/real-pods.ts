/** Lists Pods with their expected outcome at a real API server. */

export type PodCase = {
  readonly title: string;
  readonly namespace: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /**
   * The outcome with a reachable webhook. With failurePolicy Fail and an unreachable webhook only `not selected` Pods are
   * admitted. The ValidatingAdmissionPolicy warns about `injected` Pods that were admitted without injection.
   */
  readonly outcome: "injected" | "skipped" | "not selected";
};

const injectLabel = (value: string) => ({ labels: { "lastcall.dev/inject": value } });
const annotationOf = (key: string, value: string) => ({ annotations: { [key]: value } });
const lifecycle = { preStop: { exec: { command: ["/bin/stop"] } } };

const knativeLifecycle = { preStop: { httpGet: { path: "/wait-for-drain", port: 8_022 } } };
const QUEUE_PROXY = { name: "queue-proxy", image: "queue" };

const osAffinity = (...values: readonly string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/os", operator: "In", values }] }],
    },
  },
});

type PodParts = Pick<PodCase, "metadata" | "spec">;

function podCase(title: string, namespace: string, outcome: PodCase["outcome"], parts: PodParts = {}): PodCase {
  return { title, namespace, outcome, ...parts };
}

/** Namespace `shop` is opted in, `plain` is not. */
export const POD_CASES: readonly PodCase[] = [
  podCase("a Pod of an opted-in namespace", "shop", "injected"),
  podCase("a Pod with other labels", "shop", "injected", { metadata: { labels: { app: "web" } } }),
  podCase("a Pod with other annotations", "shop", "injected", { metadata: annotationOf("a", "b") }),
  podCase("an opted-in Pod of an opted-in namespace", "shop", "injected", { metadata: injectLabel("enabled") }),
  podCase("a Pod whose os is Linux", "shop", "injected", {
    spec: { os: { name: "linux" }, nodeSelector: { "kubernetes.io/os": "linux" } },
  }),
  podCase("a Pod with mode sleep", "shop", "injected", { metadata: annotationOf("lastcall.dev/mode", "sleep") }),
  podCase("a Pod that opts out by label", "shop", "not selected", { metadata: injectLabel("disabled") }),
  podCase("a Pod that opts out by annotation", "shop", "not selected", {
    metadata: annotationOf("lastcall.dev/inject", "disabled"),
  }),
  podCase("a mirror Pod", "shop", "not selected", {
    metadata: annotationOf("kubernetes.io/config.mirror", "x"),
    spec: { nodeName: "n1" },
  }),
  podCase("a Pod whose os is Windows", "shop", "not selected", { spec: { os: { name: "windows" } } }),
  podCase("a Pod that selects Windows nodes", "shop", "not selected", {
    spec: { nodeSelector: { "kubernetes.io/os": "windows" } },
  }),
  podCase("a Pod that selects Windows nodes by the beta label", "shop", "not selected", {
    spec: { nodeSelector: { "beta.kubernetes.io/os": "windows" } },
  }),
  podCase("a Pod whose node affinity requires Windows", "shop", "not selected", {
    spec: { affinity: osAffinity("windows") },
  }),
  podCase("a Pod whose node affinity allows Linux and Windows", "shop", "injected", {
    spec: { affinity: osAffinity("windows", "linux") },
  }),
  podCase("a Pod on the host's network", "shop", "skipped", { spec: { hostNetwork: true } }),
  podCase("a Pod with a grace period of 0 s", "shop", "skipped", { spec: { terminationGracePeriodSeconds: 0 } }),
  podCase("a Pod that runs to completion", "shop", "skipped", { spec: { restartPolicy: "Never" } }),
  podCase("a Pod that runs to completion and opts in by label", "shop", "injected", {
    metadata: injectLabel("enabled"),
    spec: { restartPolicy: "Never" },
  }),
  podCase("a Pod that runs to completion and opts in by annotation", "shop", "injected", {
    metadata: annotationOf("lastcall.dev/inject", "enabled"),
    spec: { restartPolicy: "OnFailure" },
  }),
  podCase("a Pod whose only container has its own preStop hook", "shop", "skipped", {
    spec: { containers: [{ name: "app", image: "app", lifecycle }] },
  }),
  podCase("a Pod of Knative", "shop", "skipped", {
    spec: { containers: [{ name: "user-container", image: "app", lifecycle: knativeLifecycle }, QUEUE_PROXY] },
  }),
  podCase("a Pod with a container queue-proxy but without Knative's hook", "shop", "injected", {
    spec: { containers: [{ name: "user-container", image: "app" }, QUEUE_PROXY] },
  }),
  podCase("a Pod with Knative's hook but without its proxy", "shop", "injected", {
    spec: {
      containers: [
        { name: "user-container", image: "app", lifecycle: knativeLifecycle },
        { name: "b", image: "b" },
      ],
    },
  }),
  podCase("a Pod of a namespace that did not opt in", "plain", "not selected"),
  podCase("an opted-in Pod of a namespace that did not opt in", "plain", "injected", {
    metadata: injectLabel("enabled"),
  }),
  podCase("an opted-in Pod in kube-system", "kube-system", "not selected", { metadata: injectLabel("enabled") }),
  podCase("an opted-in Pod in the webhook's namespace", "lastcall", "not selected", {
    metadata: injectLabel("enabled"),
  }),
];

export function podOf({ namespace, metadata, spec }: PodCase): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace, ...metadata },
    spec: { containers: [{ name: "app", image: "app" }], ...spec },
  };
}
