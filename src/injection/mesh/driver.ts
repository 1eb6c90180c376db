/** Who speaks to the proxy: what `driver: auto` recognises, and where its admin address usually is. */
import { type DriverName, type DriverRow, driverRow } from "../../contract/driver-table.ts";
import { containersOf, initContainersOf, labelsOf, lastingContainersOf } from "../../kubernetes/pod.ts";
import { listAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { PodPolicy } from "../../policy/fields.ts";
import { isEnvoy, socketMount } from "./driver-socket.ts";
import { isIstioGateway, meshProxyIn } from "./mesh.ts";

/** The mesh first: its sidecar is an Envoy too and needs more care. URLs of an app name the `http` driver. */
export function driverOf(pod: RawObject, policy: PodPolicy): DriverName {
  if (policy.driver !== "auto") return policy.driver;
  if (policy.drainUrl !== "" || policy.activeUrl !== "") return "http";
  const mesh = meshProxyIn(pod);
  // A gateway serves no app in its own Pod, so it is drained as a whole.
  if (mesh !== undefined) return mesh === "istio" && isIstioGateway(pod) ? "envoy" : mesh;
  return lastingContainersOf(pod).some(isEnvoy) ? "envoy" : "none";
}

/** A person named a driver, or URLs that imply one; what was only recognised does not count. */
export function isDriverAskedFor(policy: PodPolicy): boolean {
  if (policy.driver !== "auto") return driverRow(policy.driver).counted !== "nothing";
  return policy.drainUrl !== "" || policy.activeUrl !== "";
}

/** The admin address that was set, else the one of the program that was recognised; empty lets the driver look for it. */
export function adminUrlOf(pod: RawObject, policy: PodPolicy, row: DriverRow): string {
  if (policy.driverUrl !== "") return policy.driverUrl;
  return row.envoy === "any" ? envoyAdminOf(pod, row) : (row.usualUrls[0] ?? "");
}

const CONTOUR_ADMIN = "unix:/admin/admin.sock";

function envoyAdminOf(pod: RawObject, row: DriverRow): string {
  if (meshProxyIn(pod) === "istio") return driverRow("istio").usualUrls[0] ?? "";
  if (isOfEnvoyGateway(pod)) return row.usualUrls[0] ?? "";
  // Older Contours listen on a TCP port; theirs has to be set.
  if (isOfContour(pod) && socketMount(pod, { driverUrl: CONTOUR_ADMIN, row }) !== undefined) return CONTOUR_ADMIN;
  const named = namedAdminPort(pod);
  return named === undefined ? "" : `http://127.0.0.1:${named}`;
}

/** Operators that let people choose the port declare it by name. */
function namedAdminPort(pod: RawObject): number | undefined {
  const ports = lastingContainersOf(pod)
    .filter(isEnvoy)
    .flatMap((container) => objectsAt(container, "ports"));
  return wholeNumberAt(
    ports.find((port) => textAt(port, "name") === "admin"),
    "containerPort",
  );
}

function isOfEnvoyGateway(pod: RawObject): boolean {
  if (Object.keys(labelsOf(pod)).some((label) => label.startsWith("gateway.envoyproxy.io/"))) return true;
  return containersOf(pod).some((container) => listAt(container, "command")[0] === "envoy-gateway");
}

function isOfContour(pod: RawObject): boolean {
  return [...containersOf(pod), ...initContainersOf(pod)].some((container) => {
    const program = listAt(container, "command")[0];
    return program === "contour" || program === "/bin/contour";
  });
}
