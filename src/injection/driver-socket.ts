/** The Unix socket of a driver: how the manager gets to see it, and as whom it may connect. */
import { containersOf, initContainersOf, lastingContainersOf } from "../kubernetes/pod.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";

/**
 * The mount that lets the manager reach `unix:/folder/socket`: a read-only copy of the one some container has.
 *
 * @returns `undefined` when nobody mounts the folder, and for URLs of another kind
 */
export function socketMount(pod: RawObject, driverUrl: string): RawObject | undefined {
  const nearest = nearestMount([...containersOf(pod), ...initContainersOf(pod)], driverUrl);
  return nearest === undefined ? undefined : { ...nearest, readOnly: true };
}

/**
 * The user of the container that makes the socket. Connecting takes the right to write to it, and a proxy gives that to
 * its own user alone.
 *
 * @returns `undefined` when the Pod does not say, or says root
 */
export function socketUser(pod: RawObject, driverUrl: string): number | undefined {
  // One that cannot write to the folder does not make the socket.
  const maker = lastingContainersOf(pod).find((container) => {
    const mount = nearestMount([container], driverUrl);
    return mount !== undefined && mount["readOnly"] !== true;
  });
  if (maker === undefined) return undefined;
  const ofPod = wholeNumberAt(objectAt(objectAt(pod, "spec"), "securityContext"), "runAsUser");
  const user = wholeNumberAt(objectAt(maker, "securityContext"), "runAsUser") ?? ofPod ?? 0;
  return user > 0 ? user : undefined;
}

function nearestMount(containers: readonly RawObject[], driverUrl: string): RawObject | undefined {
  if (!driverUrl.startsWith("unix:")) return undefined;
  const path = driverUrl.slice("unix:".length);
  const holders = containers
    .flatMap((container) => objectsAt(container, "volumeMounts"))
    .filter((mount) => isAbove(textAt(mount, "mountPath") ?? "", path));
  // The nearest folder: a mount inside a mount hides what lies under it.
  const [nearest] = holders.sort((a, b) => pathLength(b) - pathLength(a));
  return nearest;
}

function isAbove(folder: string, path: string): boolean {
  const clean = folder.replace(/\/+$/, "");
  return clean !== "" && path.startsWith(`${clean}/`);
}

function pathLength(mount: RawObject): number {
  return (textAt(mount, "mountPath") ?? "").replace(/\/+$/, "").length;
}
