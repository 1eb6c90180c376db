/** Chooses a free port for the manager, and excludes it from a mesh's redirection. */
import { annotationsOf, containersOf, initContainersOf, nameOf } from "../../kubernetes/pod.ts";
import { listAt, objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { isInMesh, MESHES, type Mesh } from "./mesh.ts";

export const MIN_MANAGER_PORT = 17_890;
export const MAX_MANAGER_PORT = 17_989;

/**
 * Returns the desired port, or the next free port from 17890 to 17989. Declared ports and ports of probes and hooks are in use;
 * other ports of the app are not detectable. Deterministic for a Pod.
 *
 * @returns `undefined` if the whole range is in use
 */
export function choosePort(pod: RawObject, desired: number, excludedPorts: readonly number[]): number | undefined {
  const usedPorts = declaredPorts(pod);
  for (const port of excludedPorts) usedPorts.add(port);
  if (!usedPorts.has(desired)) return desired;
  const range = Array.from({ length: MAX_MANAGER_PORT - MIN_MANAGER_PORT + 1 }, (_, index) => MIN_MANAGER_PORT + index);
  return [...range.filter((port) => port > desired), ...range].find((port) => !usedPorts.has(port));
}

export function portNumberOf(container: RawObject, port: unknown): number | undefined {
  if (typeof port === "number") return Number.isSafeInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
  if (typeof port !== "string") return undefined;
  if (/^[0-9]{1,5}$/.test(port)) return portNumberOf(container, Number(port));
  const declared = objectsAt(container, "ports").find((candidate) => textAt(candidate, "name") === port);
  return declared === undefined ? undefined : portNumberOf(container, wholeNumberAt(declared, "containerPort"));
}

function declaredPorts(pod: RawObject): Set<number> {
  const usedPorts = new Set<number>();
  for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
    addPorts(container, usedPorts);
  }
  return usedPorts;
}

/** Ports that the container declares or that its probes and hooks connect to. */
export function portsOf(container: RawObject): ReadonlySet<number> {
  const ports = new Set<number>();
  addPorts(container, ports);
  return ports;
}

function addPorts(container: RawObject, usedPorts: Set<number>): void {
  addContainerPorts(container, usedPorts);
  addUsedPorts(container, usedPorts);
}

function addContainerPorts(container: RawObject, usedPorts: Set<number>): void {
  for (const port of objectsAt(container, "ports")) {
    if ((textAt(port, "protocol") ?? "TCP") !== "TCP") continue;
    usedPorts.add(wholeNumberAt(port, "containerPort") ?? 0);
    usedPorts.add(wholeNumberAt(port, "hostPort") ?? 0);
  }
}

/** Ports of probes and hooks are in use even if they are not declared. */
function addUsedPorts(container: RawObject, usedPorts: Set<number>): void {
  for (const probe of PROBES) addHandlerPorts(container, objectAt(container, probe), usedPorts);
  const lifecycle = objectAt(container, "lifecycle");
  if (lifecycle === undefined) return;
  addHandlerPorts(container, objectAt(lifecycle, "preStop"), usedPorts);
  addHandlerPorts(container, objectAt(lifecycle, "postStart"), usedPorts);
}

function addHandlerPorts(container: RawObject, handler: RawObject | undefined, usedPorts: Set<number>): void {
  if (handler === undefined) return;
  for (const action of ACTIONS) usedPorts.add(portNumberOf(container, objectAt(handler, action)?.["port"]) ?? 0);
}

const PROBES: readonly string[] = ["livenessProbe", "readinessProbe", "startupProbe"];
const ACTIONS: readonly string[] = ["httpGet", "tcpSocket", "grpc"];

/** Annotations that exclude `port` from each mesh's redirection, merged with the present or inherited value. */
export function meshExclusions(
  pod: RawObject,
  namespace: RawObject,
  port: number,
): readonly (readonly [string, string])[] {
  return MESHES.filter((mesh) => isInMesh(mesh, pod, namespace)).flatMap((mesh) => {
    const presentPorts = textAt(annotationsOf(pod), mesh.exclusionAnnotation) ?? inheritedExclusion(mesh, namespace);
    return includesPort(presentPorts, port) ? [] : [[mesh.exclusionAnnotation, withPort(presentPorts, port)] as const];
  });
}

/** Returns the ports that the mesh excludes for a Pod without the annotation. An added annotation has to repeat them. */
function inheritedExclusion(mesh: Mesh, namespace: RawObject): string {
  const namespaceValue = mesh.inheritsExclusion ? textAt(namespace, mesh.exclusionAnnotation) : undefined;
  return namespaceValue ?? mesh.defaultExclusion;
}

function withPort(before: string, port: number): string {
  return before.trim() === "" ? String(port) : `${before},${port}`;
}

/**
 * Whether {@link meshExclusions} wrote `value`.
 *
 * @param before the Pod's own earlier value; an inherited value is not recorded
 */
export function isOurExclusion(key: string, value: unknown, before: string | null, port: number): boolean {
  const mesh = MESHES.find(({ exclusionAnnotation }) => exclusionAnnotation === key);
  if (mesh === undefined || typeof value !== "string") return false;
  if (before === null && mesh.inheritsExclusion) return value === String(port) || value.endsWith(`,${port}`);
  return value === withPort(before ?? "", port);
}

/**
 * Reports mesh init containers that redirect the manager's port.
 *
 * @param annotations of the Pod after injection
 */
export function captureProblems(
  pod: RawObject,
  port: number,
  annotations: RawObject,
  where: string,
): readonly Problem[] {
  return initContainersOf(pod).flatMap((container): readonly Problem[] => {
    const mesh = MESHES.find(({ init }) => init === nameOf(container));
    if (mesh === undefined || !redirects(mesh, container, port)) return [];
    const message =
      `Redirects the manager's port ${port} to the proxy, which with strict mTLS rejects the kubelet's preStop calls. ` +
      `Set ${mesh.exclusionAnnotation}: ${quote(textAt(annotations, mesh.exclusionAnnotation) ?? String(port))} on the Pod template.`;
    return [{ code: "mesh_captures_port", where: `${where}, init container ${mesh.init}`, message }];
  });
}

function redirects(mesh: Mesh, init: RawObject, port: number): boolean {
  if (mesh.name === "linkerd") return !includesPort(flagOf(init, ["--inbound-ports-to-ignore"]) ?? "", port);
  // With a list of included ports Istio ignores the list of excluded ports.
  const includedPorts = flagOf(init, ["-b", "--istio-inbound-ports"]) ?? "*";
  if (includedPorts !== "*") return includesPort(includedPorts, port);
  return !includesPort(flagOf(init, ["-d", "--istio-local-exclude-ports"]) ?? "", port);
}

function flagOf(container: RawObject, flags: readonly string[]): string | undefined {
  const args = listAt(container, "args").map((arg) => (typeof arg === "string" ? arg : ""));
  for (const [index, arg] of args.entries()) {
    if (flags.includes(arg)) return args[index + 1] ?? "";
    const flag = flags.find((name) => name.startsWith("--") && arg.startsWith(`${name}=`));
    if (flag !== undefined) return arg.slice(flag.length + 1);
  }
  return undefined;
}

/** Linkerd's lists may contain ranges. */
function includesPort(list: string, port: number): boolean {
  return list.split(",").some((part) => {
    const [from = "", to = from] = part.trim().split("-");
    return /^[0-9]{1,5}$/.test(from) && /^[0-9]{1,5}$/.test(to) && Number(from) <= port && port <= Number(to);
  });
}
