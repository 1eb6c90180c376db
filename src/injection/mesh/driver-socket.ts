/** Finds the mount and the user with which the manager can connect to the Unix socket of a driver. */
import type { DriverRow } from "../../contract/driver-table.ts";
import { containersOf, initContainersOf, longRunningContainersOf } from "../../kubernetes/pod.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { isManager } from "../manager/container.ts";

/** Read-only volumes cannot contain a socket. */
const READ_ONLY_VOLUMES: readonly string[] = ["configMap", "downwardAPI", "image", "projected", "secret"];
/** Mount path of the ServiceAccount token. */
const TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
/** `mountPropagation` may require a privileged container, and `subPathExpr` a variable of the original container. */
const UNCOPIED_FIELDS: readonly string[] = ["mountPropagation", "subPathExpr"];

export type DriverAddress = { readonly driverUrl: string; readonly row: DriverRow };

/**
 * Copies the mount that contains the socket from another container. The copy is read-only, unless the container runtime has to
 * create the mount point of the ServiceAccount token in the volume.
 *
 * @returns `undefined` for a TCP URL, or if no container mounts the socket's directory
 */
export function copySocketMount(pod: RawObject, { driverUrl, row }: DriverAddress): RawObject | undefined {
  if (!driverUrl.startsWith("unix:")) return undefined;
  const allContainers = [...containersOf(pod), ...initContainersOf(pod)];
  const socket = socketOf(pod, driverUrl);
  // Other containers may mount another volume at the same path, so the proxy's mount comes first.
  const proxies = allContainers.filter((container) => isProxy(container, row));
  const nearest = findNearestMount(proxies, socket) ?? findNearestMount(allContainers, socket);
  if (nearest === undefined || (textAt(nearest, "subPathExpr") ?? "") !== "") return undefined;
  const copiedFields = Object.entries(nearest).filter(([key]) => !UNCOPIED_FIELDS.includes(key));
  const containsTokenFolder = containsPath(textAt(nearest, "mountPath") ?? "", TOKEN_FOLDER);
  return { ...Object.fromEntries(copiedFields), ...(containsTokenFolder ? {} : { readOnly: true }) };
}

/**
 * Returns the user of the container that creates the socket. Connecting requires write permission, which only the proxy's user has.
 *
 * @returns `undefined` if the user is unknown or root
 */
export function findSocketUser(pod: RawObject, { driverUrl, row }: DriverAddress): number | undefined {
  if (!driverUrl.startsWith("unix:")) return undefined;
  const socket = socketOf(pod, driverUrl);
  // A container with a read-only mount cannot create the socket.
  const creators = longRunningContainersOf(pod).filter((container) => {
    const mount = findNearestMount([container], socket);
    return mount !== undefined && mount["readOnly"] !== true && !isManager(container);
  });
  const creator = creators.find((container) => isProxy(container, row)) ?? creators[0];
  if (creator === undefined) return undefined;
  const podUser = wholeNumberAt(objectAt(objectAt(pod, "spec"), "securityContext"), "runAsUser");
  const user = wholeNumberAt(objectAt(creator, "securityContext"), "runAsUser") ?? podUser ?? 0;
  return user > 0 ? user : undefined;
}

type Socket = { readonly path: string; readonly readOnlyVolumes: ReadonlySet<unknown> };

function socketOf(pod: RawObject, driverUrl: string): Socket {
  const seenNames = new Set<unknown>();
  const readOnlyVolumes = new Set<unknown>();
  for (const volume of objectsAt(objectAt(pod, "spec"), "volumes")) {
    const name = volume["name"];
    if (seenNames.has(name)) continue;
    seenNames.add(name);
    if (READ_ONLY_VOLUMES.some((kind) => objectAt(volume, kind) !== undefined)) readOnlyVolumes.add(name);
  }
  return { path: normalizedPath(driverUrl.slice("unix:".length)), readOnlyVolumes };
}

function findNearestMount(containers: readonly RawObject[], socket: Socket): RawObject | undefined {
  let nearest: RawObject | undefined;
  // The deepest mount hides the mounts of parent directories.
  let longest = -1;
  for (const mount of containers.flatMap((container) => objectsAt(container, "volumeMounts"))) {
    const folder = withoutTrailingSlash(textAt(mount, "mountPath") ?? "");
    if (folder.length <= longest || !containsPath(folder, socket.path)) continue;
    if (socket.readOnlyVolumes.has(mount["name"])) continue;
    nearest = mount;
    longest = folder.length;
  }
  return nearest;
}

function containsPath(folder: string, path: string): boolean {
  const clean = withoutTrailingSlash(folder);
  return clean !== "" && path.startsWith(`${clean}/`);
}

function withoutTrailingSlash(folder: string): string {
  return normalizedPath(folder).replace(/\/$/, "");
}

/** `unix:///run//envoy/./admin.sock` names the same file as `/run/envoy/admin.sock`. */
function normalizedPath(path: string): string {
  return path.replace(/\/(\.?\/)+/g, "/");
}

/** An Envoy container counts as the driver's proxy only if the driver is for Envoy. */
function isProxy(container: RawObject, row: DriverRow): boolean {
  return row.envoyKind !== "none" && isEnvoy(container);
}

/** Recognises images such as `envoyproxy/envoy:v1.31`, `registry.local/envoy@sha256:…`, `envoy-distroless` or `contour-envoy`. */
export function isEnvoy(container: RawObject): boolean {
  const image = textAt(container, "image") ?? "";
  if (!image.includes("envoy")) return false;
  const repository = image.split("@")[0]?.replace(/:[^/:]*$/, "") ?? "";
  const name = repository.slice(repository.lastIndexOf("/") + 1);
  return /^(envoy|envoy-distroless|envoy-contrib|envoy-debug|envoy-dev|envoyproxy|[a-z]+-envoy)$/.test(name);
}

export function socketProblems(pod: RawObject, address: DriverAddress, where: string): readonly Problem[] {
  const { driverUrl } = address;
  if (!driverUrl.startsWith("unix:") || copySocketMount(pod, address) !== undefined) return [];
  const message =
    `No container mounts the directory of ${quote(driverUrl)} from a writable volume without subPathExpr, so the ` +
    "manager cannot connect to the proxy. Mount the directory from an emptyDir.";
  return [{ code: "socket_unmounted", where: `${where}, lastcall.dev/driver-url`, message }];
}
