/** Builds the app of the cases in a mesh of Istio, and reads its Pods. */
import type { KubernetesObject, V1Pod, V1Service } from "@kubernetes/client-node";
import type { CaseNamespace } from "./case-namespace.ts";
import { type SampleOptions, sampleApp } from "./sample-app.ts";

/** The label of namespaces whose Pods get a proxy. */
export const IN_MESH = { "istio-injection": "enabled" } as const;

/** The proxy as an init container that runs with the Pod, or as a regular container. */
export const PROXY_KINDS = ["native", "classic"] as const;
export type ProxyKind = (typeof PROXY_KINDS)[number];

const PROXY = "istio-proxy";

export function meshApp(
  namespace: CaseNamespace,
  proxy: ProxyKind,
  { annotations, ...options }: SampleOptions = {},
): readonly KubernetesObject[] {
  return sampleApp(namespace, { ...options, annotations: { ...proxyAnnotation(proxy), ...annotations } }).map(
    (object) => (object.kind === "Service" ? withPortName(object) : object),
  );
}

function proxyAnnotation(proxy: ProxyKind): Readonly<Record<string, string>> {
  return { "sidecar.istio.io/nativeSidecar": String(proxy === "native") };
}

/** Istio reads the protocol from the port's name. */
function withPortName(service: V1Service): V1Service {
  const ports = (service.spec?.ports ?? []).map((port) => ({ ...port, name: "http" }));
  return { ...service, spec: { ...service.spec, ports } };
}

/** Every proxy of the namespace refuses connections without mutual TLS. */
export function strictMutualTls(): KubernetesObject & { readonly spec: object } {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "PeerAuthentication",
    metadata: { name: "default" },
    spec: { mtls: { mode: "STRICT" } },
  };
}

export function proxyOf({ spec }: V1Pod): ProxyKind | "none" {
  if (spec?.initContainers?.some(({ name }) => name === PROXY)) return "native";
  return spec?.containers.some(({ name }) => name === PROXY) ? "classic" : "none";
}

/** Returns the path of the preStop hook of a regular proxy; empty without a hook that sends a request. */
export function hookPathOfProxy(pod: V1Pod | undefined): string {
  return pod?.spec?.containers.find(({ name }) => name === PROXY)?.lifecycle?.preStop?.httpGet?.path ?? "";
}
