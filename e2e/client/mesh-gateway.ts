/** Builds a gateway of Istio by injection: a Deployment whose only container the injector completes, behind a node port. */
import type { KubernetesObject, V1Deployment, V1Service } from "@kubernetes/client-node";
import { APP } from "./sample-app.ts";

export const GATEWAY = "ingress";

const LABELS = { app: GATEWAY };
const PORT = 8080;

/** The gateway forwards all requests to the app's Service. */
export function meshGateway(): readonly KubernetesObject[] {
  const deployment: V1Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: GATEWAY },
    spec: {
      replicas: 2,
      selector: { matchLabels: LABELS },
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: {
          labels: { ...LABELS, "sidecar.istio.io/inject": "true" },
          annotations: { "inject.istio.io/templates": "gateway" },
        },
        // The API server sets the policy Always for an image without a tag, before the injector replaces the image.
        spec: { containers: [{ name: "istio-proxy", image: "auto", imagePullPolicy: "IfNotPresent" }] },
      },
    },
  };
  const service: V1Service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: GATEWAY },
    spec: { type: "NodePort", selector: LABELS, ports: [{ name: "http", port: PORT, targetPort: PORT }] },
  };
  const apiVersion = "networking.istio.io/v1";
  const servers = [{ port: { number: PORT, name: "http", protocol: "HTTP" }, hosts: ["*"] }];
  const http = [{ route: [{ destination: { host: APP } }], retries: { attempts: 0 } }];
  const routing = [
    { apiVersion, kind: "Gateway", metadata: { name: GATEWAY }, spec: { selector: LABELS, servers } },
    { apiVersion, kind: "VirtualService", metadata: { name: APP }, spec: { hosts: ["*"], gateways: [GATEWAY], http } },
  ];
  return [deployment, service, ...routing];
}
