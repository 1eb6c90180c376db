/** Builds the Deployment of every rollout: two Pods with one container `app` on port 8080. Pure. */

export const NAMESPACE = "shop";

type WebOptions = {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly graceSeconds?: number;
};

export function webDeployment(
  container: object,
  { annotations = {}, labels = {}, graceSeconds = 10 }: WebOptions = {},
): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      replicas: 2,
      template: {
        metadata: { labels: { app: "web", ...labels }, annotations },
        spec: {
          // The API server requires `os` in a Pod with `lifecycle.stopSignal`.
          os: { name: "linux" },
          terminationGracePeriodSeconds: graceSeconds,
          containers: [{ name: "app", ...container, ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }] }],
        },
      },
    },
  };
}
