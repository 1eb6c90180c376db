/** Defines the backend and the routes of the cases with real gateways. */
import type { KubernetesObject } from "@kubernetes/client-node";
import { UPSTREAM_PORTS } from "../../test/programs/envoy/upstream-ports.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { imageOf } from "./suite.ts";

export type LooseObject = KubernetesObject & Readonly<Record<string, unknown>>;

export const BACKEND = "backend";
export const BACKEND_LABELS = { app: BACKEND };
const HTTP1_PORT = 8_080;
export const HTTP2_PORT = 8_081;

/** Ports of the Gateway's listeners, by their names. */
export const LISTENER_PORTS = { http: 80, grpc: 8_081, tcp: 9_000, udp: 9_001 } as const;

export type BackendOptions = { readonly replicas: number; readonly isInjected: boolean };

/** Returns the backends: one program for HTTP/1.1, HTTP/2 and gRPC, and one for WebSockets and TCP. */
export function backendObjects(
  namespace: CaseNamespace,
  { replicas, isInjected }: BackendOptions = { replicas: 1, isInjected: false },
): readonly LooseObject[] {
  const container = {
    image: imageOf(namespace.suite, "lastcall-test-app"),
    imagePullPolicy: "IfNotPresent",
  };
  const readinessProbe = { httpGet: { path: "/healthz", port: HTTP1_PORT }, periodSeconds: 1 };
  const containers = [
    { ...container, name: "web", args: ["/app/rollout-app.mjs"], readinessProbe },
    {
      ...container,
      name: "sessions",
      args: ["/app/upstream.mjs"],
      env: [{ name: "LISTEN_ON", value: "0.0.0.0" }],
      readinessProbe: { tcpSocket: { port: UPSTREAM_PORTS.tcp }, periodSeconds: 1 },
    },
  ];
  const labels = { ...BACKEND_LABELS, "lastcall.dev/inject": isInjected ? "enabled" : "disabled" };
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: BACKEND },
      spec: {
        replicas,
        selector: { matchLabels: BACKEND_LABELS },
        template: { metadata: { labels }, spec: { containers } },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: BACKEND },
      spec: {
        selector: BACKEND_LABELS,
        ports: [
          { name: "web", port: HTTP1_PORT },
          { name: "grpc", port: HTTP2_PORT, appProtocol: "kubernetes.io/h2c" },
          { name: "websocket", port: UPSTREAM_PORTS.http1 },
          { name: "tcp", port: UPSTREAM_PORTS.tcp },
          { name: "udp", port: UPSTREAM_PORTS.udp, protocol: "UDP" },
        ],
      },
    },
  ];
}

/** Returns routes of the Gateway API: one of each kind, each attached to its own listener. */
export function routesOf(gateway: string): readonly LooseObject[] {
  const route = (kind: string, version: string, section: string, rules: readonly object[]): LooseObject => ({
    apiVersion: `gateway.networking.k8s.io/${version}`,
    kind,
    metadata: { name: section },
    spec: { parentRefs: [{ name: gateway, sectionName: section }], rules },
  });
  const ruleTo = (port: number) => ({ backendRefs: [{ name: BACKEND, port }] });
  return [
    route("HTTPRoute", "v1", "http", [
      { matches: [{ path: { type: "PathPrefix", value: "/ws" } }], ...ruleTo(UPSTREAM_PORTS.http1) },
      ruleTo(HTTP1_PORT),
    ]),
    route("GRPCRoute", "v1", "grpc", [ruleTo(HTTP2_PORT)]),
    route("TCPRoute", "v1alpha2", "tcp", [ruleTo(UPSTREAM_PORTS.tcp)]),
    route("UDPRoute", "v1alpha2", "udp", [ruleTo(UPSTREAM_PORTS.udp)]),
  ];
}

/** Returns the rules of an Ingress for every host. @param grpcService the Service of gRPC, in the same namespace */
export function ingressRules(grpcService: string): readonly object[] {
  const path = (prefix: string, name: string, port: number) => ({
    path: prefix,
    pathType: "Prefix",
    backend: { service: { name, port: { number: port } } },
  });
  const paths = [
    path("/ws", BACKEND, UPSTREAM_PORTS.http1),
    path("/lastcall.test.Greeter", grpcService, HTTP2_PORT),
    path("/", BACKEND, HTTP1_PORT),
  ];
  return [{ http: { paths } }];
}
