/** Detects the driver for `driver: auto`, and the driver's admin address. */
import { type DriverName, type DriverRow, driverRow } from "../../contract/driver-table.ts";
import { containersOf, initContainersOf, labelsOf, longRunningContainersOf } from "../../kubernetes/pod.ts";
import { listAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { PodPolicy } from "../../policy/fields.ts";
import { copySocketMount, isEnvoy } from "./driver-socket.ts";
import { isIstioGateway, meshProxyIn } from "./mesh.ts";

/** Meshes precede Envoy, because Istio's sidecar is an Envoy too. `drain-url` and `active-url` imply the driver `http`. */
export function driverOf(pod: RawObject, policy: PodPolicy): DriverName {
  if (policy.driver !== "auto") return policy.driver;
  if (policy.drainUrl !== "" || policy.activeUrl !== "") return "http";
  const mesh = meshProxyIn(pod);
  // The Pod of a gateway does not have an app, so all listeners of the gateway drain.
  if (mesh !== undefined) return mesh === "istio" && isIstioGateway(pod) ? "envoy" : mesh;
  return longRunningContainersOf(pod).some(isEnvoy) ? "envoy" : "none";
}

/** Whether a setting names or implies a driver; recognised drivers do not count. */
export function isDriverRequested(policy: PodPolicy): boolean {
  if (policy.driver !== "auto") return driverRow(policy.driver).countedUnit !== "nothing";
  return policy.drainUrl !== "" || policy.activeUrl !== "";
}

export function adminUrlOf(pod: RawObject, policy: PodPolicy, row: DriverRow): string {
  if (policy.driverUrl !== "") return policy.driverUrl;
  return row.envoyKind === "any" ? envoyAdminOf(pod, row) : (row.defaultUrls[0] ?? "");
}

const CONTOUR_ADMIN = "unix:/admin/admin.sock";

function envoyAdminOf(pod: RawObject, row: DriverRow): string {
  if (meshProxyIn(pod) === "istio") return driverRow("istio").defaultUrls[0] ?? "";
  if (isOfEnvoyGateway(pod)) return row.defaultUrls[0] ?? "";
  // Older versions of Contour have Envoy's admin interface on a TCP port; for them the user has to set driver-url.
  if (isOfContour(pod) && copySocketMount(pod, { driverUrl: CONTOUR_ADMIN, row }) !== undefined) return CONTOUR_ADMIN;
  const adminPort = namedAdminPort(pod);
  return adminPort === undefined ? "" : `http://127.0.0.1:${adminPort}`;
}

/** Operators with a configurable admin port declare this port with the name `admin`. */
function namedAdminPort(pod: RawObject): number | undefined {
  const ports = longRunningContainersOf(pod)
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
