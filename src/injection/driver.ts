/** Who speaks to the proxy: what `driver: auto` recognises, and the folder of a Unix socket. */
import type { DriverName } from "../contract/drain-settings.ts";
import { containersOf, initContainersOf, lastingContainersOf } from "../kubernetes/pod.ts";
import { objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import type { PodPolicy } from "../policy/pod-policy.ts";
import { meshProxyIn } from "./mesh.ts";

/** The mesh first: its sidecar is an Envoy too and needs more care. URLs of an app name the `http` driver. */
export function driverOf(pod: RawObject, policy: PodPolicy): DriverName {
  if (policy.driver !== "auto") return policy.driver;
  if (policy.drainUrl !== "" || policy.activeUrl !== "") return "http";
  const mesh = meshProxyIn(pod);
  if (mesh !== undefined) return mesh;
  return lastingContainersOf(pod).some((container) => isEnvoy(textAt(container, "image") ?? "")) ? "envoy" : "none";
}

/** `envoyproxy/envoy:v1.31`, `registry.local/envoy@sha256:…`, `envoy-distroless`, `contour-envoy`. */
function isEnvoy(image: string): boolean {
  if (!image.includes("envoy")) return false;
  const repository = image.split("@")[0]?.replace(/:[^/:]*$/, "") ?? "";
  const name = repository.slice(repository.lastIndexOf("/") + 1);
  return /^(envoy|envoy-distroless|envoy-contrib|envoy-debug|envoy-dev|envoyproxy|[a-z]+-envoy)$/.test(name);
}

/**
 * The mount that lets the manager reach `unix:/folder/socket`: a read-only copy of the one some container has.
 *
 * @returns `undefined` when nobody mounts the folder
 */
export function socketMount(pod: RawObject, driverUrl: string): RawObject | undefined {
  const path = driverUrl.slice("unix:".length);
  const mounts = [...containersOf(pod), ...initContainersOf(pod)].flatMap((container) =>
    objectsAt(container, "volumeMounts"),
  );
  const holders = mounts.filter((mount) => isAbove(textAt(mount, "mountPath") ?? "", path));
  // The nearest folder: a mount inside a mount hides what lies under it.
  const [nearest] = holders.sort((a, b) => pathLength(b) - pathLength(a));
  return nearest === undefined ? undefined : { ...nearest, readOnly: true };
}

function isAbove(folder: string, path: string): boolean {
  const clean = folder.replace(/\/+$/, "");
  return clean !== "" && path.startsWith(`${clean}/`);
}

function pathLength(mount: RawObject): number {
  return (textAt(mount, "mountPath") ?? "").replace(/\/+$/, "").length;
}
