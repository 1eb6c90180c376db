/** Service meshes: whether one is there or will be, and which containers are its proxies. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import {
  annotationsOf,
  containerNamed,
  containersOf,
  labelsOf,
  lastingContainersOf,
  nameOf,
} from "../../kubernetes/pod.ts";
import { listAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

type MeshName = "istio" | "linkerd";

export type Mesh = {
  readonly name: MeshName;
  readonly proxy: string;
  /** Renders the redirection when the Pod starts, from arguments fixed at its injection. */
  readonly init: string;
  /** The annotation that keeps ports out of the redirection. */
  readonly exclusion: string;
  /** What the mesh excludes without an annotation; an annotation takes its place. */
  readonly usuallyExcluded: string;
  /** Whether the Pod takes what it does not say itself from its namespace. */
  readonly inheritsExclusion: boolean;
};

export const MESHES: readonly Mesh[] = [
  {
    name: "istio",
    proxy: "istio-proxy",
    init: "istio-init",
    exclusion: "traffic.sidecar.istio.io/excludeInboundPorts",
    usuallyExcluded: "",
    inheritsExclusion: false,
  },
  {
    name: "linkerd",
    proxy: "linkerd-proxy",
    init: "linkerd-init",
    exclusion: "config.linkerd.io/skip-inbound-ports",
    usuallyExcluded: "4567,4568",
    inheritsExclusion: true,
  },
];

/** A regular container of a mesh that must outlive the app. Alone in the Pod it is a gateway, and that is an app. */
export function isMeshProxy(pod: RawObject, container: RawObject): boolean {
  const named = MESHES.some((mesh) => mesh.proxy === nameOf(container));
  return named && containersOf(pod).length > 1 && !isRouter(container);
}

/** The mesh whose sidecar is in the Pod. */
export function meshProxyIn(pod: RawObject): MeshName | undefined {
  const names = lastingContainersOf(pod).map(nameOf);
  return MESHES.find((mesh) => names.includes(mesh.proxy))?.name;
}

/** A gateway of Istio: its proxy has the Pod's traffic to itself. */
export function isIstioGateway(pod: RawObject): boolean {
  const proxy = containersOf(pod).find((container) => nameOf(container) === "istio-proxy");
  return proxy !== undefined && (containersOf(pod).length === 1 || isRouter(proxy));
}

/** Istio starts its agent as `proxy sidecar` or, in a gateway, as `proxy router`. */
function isRouter(container: RawObject): boolean {
  const [command, role] = listAt(container, "args");
  return command === "proxy" && role === "router";
}

/** @param namespace annotations of the namespace, and the labels by which Istio injects */
export function isInMesh(mesh: Mesh, pod: RawObject, namespace: RawObject): boolean {
  // Nothing is redirected to a gateway: its proxy listens on the ports themselves.
  if (mesh.name === "istio" && isIstioGateway(pod)) return false;
  if (containerNamed(pod, mesh.proxy) !== undefined || containerNamed(pod, mesh.init) !== undefined) return true;
  return mesh.name === "istio" ? asksForIstio(pod, namespace) : asksForLinkerd(pod, namespace);
}

/** The Pod's label, else its annotation, else the revision it names, else its namespace's labels. */
function asksForIstio(pod: RawObject, namespace: RawObject): boolean {
  const own = choiceOf(textAt(labelsOf(pod), ISTIO_INJECT)) ?? choiceOf(textAt(annotationsOf(pod), ISTIO_INJECT));
  if (own !== undefined) return own;
  const ofNamespace = textAt(namespace, "istio-injection");
  if (ofNamespace === "enabled" || ofNamespace === "disabled") return ofNamespace === "enabled";
  return isNamed(textAt(labelsOf(pod), ISTIO_REVISION)) || isNamed(textAt(namespace, ISTIO_REVISION));
}

const ISTIO_INJECT = "sidecar.istio.io/inject";
const ISTIO_REVISION = "istio.io/rev";

function choiceOf(value: string | undefined): boolean | undefined {
  return isNamed(value) ? ["true", "y", "yes", "on"].includes(value.toLowerCase()) : undefined;
}

function isNamed(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

/** Linkerd opts in by annotation, on the Pod or its namespace; the nearer one wins. */
function asksForLinkerd(pod: RawObject, namespace: RawObject): boolean {
  const key = "linkerd.io/inject";
  const value = textAt(annotationsOf(pod), key) ?? textAt(namespace, key);
  return value === "enabled" || value === "ingress";
}

/** Which container `kubectl logs` and `kubectl exec` mean when no container is named. */
export const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

/** The first regular container that belongs to the app, by the names in order. */
export function defaultContainerOf(names: readonly string[]): string {
  const own = names.filter((name) => name !== MANAGER_CONTAINER);
  return own.find((name) => !MESHES.some((mesh) => mesh.proxy === name)) ?? own[0] ?? "";
}
