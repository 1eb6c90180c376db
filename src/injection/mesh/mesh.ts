/** Recognises service meshes: whether a Pod is or will be in a mesh, and the mesh's containers. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import {
  annotationsOf,
  containerNamed,
  containersOf,
  labelsOf,
  longRunningContainersOf,
  nameOf,
} from "../../kubernetes/pod.ts";
import { listAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

type MeshName = "istio" | "linkerd";

export type Mesh = {
  readonly name: MeshName;
  readonly proxy: string;
  /** Init container that sets up the redirection. Once the mesh has injected it, its arguments do not change. */
  readonly init: string;
  /** Annotation with the ports that are excluded from redirection. */
  readonly exclusionAnnotation: string;
  /** Ports that the mesh excludes if no annotation is set. */
  readonly defaultExclusion: string;
  /** Whether the annotation is inherited from the namespace. */
  readonly inheritsExclusion: boolean;
};

export const MESHES: readonly Mesh[] = [
  {
    name: "istio",
    proxy: "istio-proxy",
    init: "istio-init",
    exclusionAnnotation: "traffic.sidecar.istio.io/excludeInboundPorts",
    defaultExclusion: "",
    inheritsExclusion: false,
  },
  {
    name: "linkerd",
    proxy: "linkerd-proxy",
    init: "linkerd-init",
    exclusionAnnotation: "config.linkerd.io/skip-inbound-ports",
    defaultExclusion: "4567,4568",
    inheritsExclusion: true,
  },
];

/**
 * Whether a regular container is a mesh proxy that has to outlive the app. A mesh proxy that is its Pod's only container is a
 * gateway, and counts as an app.
 */
export function isMeshProxy(pod: RawObject, container: RawObject): boolean {
  const isProxyName = MESHES.some((mesh) => mesh.proxy === nameOf(container));
  return isProxyName && containersOf(pod).length > 1 && !isRouter(container);
}

export function meshProxyIn(pod: RawObject): MeshName | undefined {
  const names = longRunningContainersOf(pod).map(nameOf);
  return MESHES.find((mesh) => names.includes(mesh.proxy))?.name;
}

/** In an Istio gateway the proxy handles all traffic of the Pod. */
export function isIstioGateway(pod: RawObject): boolean {
  const proxy = containersOf(pod).find((container) => nameOf(container) === "istio-proxy");
  return proxy !== undefined && (containersOf(pod).length === 1 || isRouter(proxy));
}

function isRouter(container: RawObject): boolean {
  const [command, role] = listAt(container, "args");
  return command === "proxy" && role === "router";
}

/** @param namespace annotations of the namespace, and the labels by which Istio injects */
export function isInMesh(mesh: Mesh, pod: RawObject, namespace: RawObject): boolean {
  // A gateway's proxy listens on its ports without redirection.
  if (mesh.name === "istio" && isIstioGateway(pod)) return false;
  if (containerNamed(pod, mesh.proxy) !== undefined || containerNamed(pod, mesh.init) !== undefined) return true;
  return mesh.name === "istio" ? isIstioEnabled(pod, namespace) : isLinkerdEnabled(pod, namespace);
}

/** Checks in Istio's order: Pod label, Pod annotation, namespace label, revision labels. */
function isIstioEnabled(pod: RawObject, namespace: RawObject): boolean {
  const podChoice = choiceOf(textAt(labelsOf(pod), ISTIO_INJECT)) ?? choiceOf(textAt(annotationsOf(pod), ISTIO_INJECT));
  if (podChoice !== undefined) return podChoice;
  const namespaceLabel = textAt(namespace, "istio-injection");
  if (namespaceLabel === "enabled" || namespaceLabel === "disabled") return namespaceLabel === "enabled";
  return isNonEmpty(textAt(labelsOf(pod), ISTIO_REVISION)) || isNonEmpty(textAt(namespace, ISTIO_REVISION));
}

const ISTIO_INJECT = "sidecar.istio.io/inject";
const ISTIO_REVISION = "istio.io/rev";

function choiceOf(value: string | undefined): boolean | undefined {
  return isNonEmpty(value) ? ["true", "y", "yes", "on"].includes(value.toLowerCase()) : undefined;
}

function isNonEmpty(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

/** The Pod's annotation overrides the namespace's. */
function isLinkerdEnabled(pod: RawObject, namespace: RawObject): boolean {
  const key = "linkerd.io/inject";
  const value = textAt(annotationsOf(pod), key) ?? textAt(namespace, key);
  return value === "enabled" || value === "ingress";
}

/** Default container of `kubectl logs` and `kubectl exec`. */
export const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

export function defaultContainerOf(names: readonly string[]): string {
  const podContainers = names.filter((name) => name !== MANAGER_CONTAINER);
  return podContainers.find((name) => !MESHES.some((mesh) => mesh.proxy === name)) ?? podContainers[0] ?? "";
}
