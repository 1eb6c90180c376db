/** Service meshes: whether one is there, and keeping our port out of its redirection. */
import {
  annotationsOf,
  containerNamed,
  containersOf,
  initContainersOf,
  labelsOf,
  lastingContainersOf,
  nameOf,
} from "../kubernetes/pod.ts";
import { listAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

export type MeshName = "istio" | "linkerd";

type Mesh = {
  readonly name: MeshName;
  readonly proxy: string;
  /** Renders the redirection when the Pod starts, from arguments fixed at its injection. */
  readonly init: string;
  readonly exclusion: string;
};

const MESHES: readonly Mesh[] = [
  {
    name: "istio",
    proxy: "istio-proxy",
    init: "istio-init",
    exclusion: "traffic.sidecar.istio.io/excludeInboundPorts",
  },
  { name: "linkerd", proxy: "linkerd-proxy", init: "linkerd-init", exclusion: "config.linkerd.io/skip-inbound-ports" },
];

/** A regular container of a mesh that must outlive the app. Alone in the Pod it is a gateway, and that is an app. */
export function isMeshProxy(pod: RawObject, container: RawObject): boolean {
  return containersOf(pod).length > 1 && MESHES.some((mesh) => mesh.proxy === nameOf(container));
}

/** The mesh whose proxy container is in the Pod. */
export function meshProxyIn(pod: RawObject): MeshName | undefined {
  const names = lastingContainersOf(pod).map(nameOf);
  return MESHES.find((mesh) => names.includes(mesh.proxy))?.name;
}

/** Annotations that keep `port` out of each mesh's redirection, merged with what is there. */
export function meshExclusions(
  pod: RawObject,
  namespaceAnnotations: RawObject,
  port: number,
): readonly (readonly [string, string])[] {
  const annotations = annotationsOf(pod);
  return MESHES.filter((mesh) => isInMesh(mesh, pod, namespaceAnnotations)).flatMap((mesh) => {
    const present = textAt(annotations, mesh.exclusion) ?? "";
    return includesPort(present, port) ? [] : [[mesh.exclusion, withPort(present, port)] as const];
  });
}

/** What {@link meshExclusions} made of `before`; used to tell our value from somebody's later one. */
export function withPort(before: string, port: number): string {
  return before.trim() === "" ? String(port) : `${before},${port}`;
}

/** The names of mesh init containers that redirect without knowing our port. */
export function capturingInits(pod: RawObject, port: number): readonly string[] {
  return initContainersOf(pod)
    .filter((container) => MESHES.some((mesh) => mesh.init === nameOf(container)))
    .filter((container) => !listAt(container, "args").some((arg) => typeof arg === "string" && includesPort(arg, port)))
    .map(nameOf);
}

export function isMeshExclusion(key: string): boolean {
  return MESHES.some((mesh) => mesh.exclusion === key);
}

function isInMesh(mesh: Mesh, pod: RawObject, namespaceAnnotations: RawObject): boolean {
  if (containerNamed(pod, mesh.proxy) !== undefined || containerNamed(pod, mesh.init) !== undefined) return true;
  return mesh.name === "istio" ? asksForIstio(pod) : asksForLinkerd(pod, namespaceAnnotations);
}

function asksForIstio(pod: RawObject): boolean {
  const key = "sidecar.istio.io/inject";
  return textAt(labelsOf(pod), key) === "true" || textAt(annotationsOf(pod), key) === "true";
}

/** Linkerd opts in by annotation, on the Pod or its namespace; the nearer one wins. */
function asksForLinkerd(pod: RawObject, namespaceAnnotations: RawObject): boolean {
  const key = "linkerd.io/inject";
  const value = textAt(annotationsOf(pod), key) ?? textAt(namespaceAnnotations, key);
  return value === "enabled" || value === "ingress";
}

/** Lists hold ports and, for Linkerd, ranges. */
function includesPort(list: string, port: number): boolean {
  return list.split(",").some((part) => {
    const [from = "", to = from] = part.trim().split("-");
    return /^[0-9]{1,5}$/.test(from) && /^[0-9]{1,5}$/.test(to) && Number(from) <= port && port <= Number(to);
  });
}
