/** The Deployment of every rollout: two Pods of one container `app` on port 8080. Pure. */

/** The namespace of all Pods. */
export const NAMESPACE = "shop";

/** @param container image, command, environment and probe of the app */
export function webDeployment(container: object, annotations: Readonly<Record<string, string>> = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      replicas: 2,
      template: {
        metadata: { labels: { app: "web" }, annotations },
        spec: {
          // An API server wants to know the system of a Pod whose stop signal it writes down.
          os: { name: "linux" },
          terminationGracePeriodSeconds: 10,
          containers: [{ name: "app", ...container, ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }] }],
        },
      },
    },
  };
}
