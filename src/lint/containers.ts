/** Finds the containers, preStop hooks, grace period and Services of a workload. */
import { isManager } from "../injection/manager/container.ts";
import { portNumberOf } from "../injection/mesh/ports.ts";
import type { Path } from "../kubernetes/listed-objects.ts";
import { DEFAULT_GRACE_SECONDS, nameOf } from "../kubernetes/pod.ts";
import {
  isRawObject,
  listAt,
  objectAt,
  objectsAt,
  type RawObject,
  textAt,
  valueAt,
  wholeNumberAt,
} from "../kubernetes/raw-json.ts";
import type { LocatedObject, Workload } from "./manifest-set.ts";

type PlacedContainer = { readonly container: RawObject; readonly path: Path; readonly name: string };

export function containersIn({ pod, podPath }: Workload): readonly PlacedContainer[] {
  return listAt(objectAt(pod, "spec"), "containers").flatMap((container, index) =>
    isRawObject(container) && !isManager(container)
      ? [{ container, path: [...podPath, "spec", "containers", index], name: nameOf(container) }]
      : [],
  );
}

export type PlacedHook = PlacedContainer & { readonly handler: RawObject; readonly hookPath: Path };

export function preStopHooksIn(workload: Workload): readonly PlacedHook[] {
  return containersIn(workload).flatMap((placed) => {
    const handler = preStopOf(placed.container);
    return handler === undefined ? [] : [{ ...placed, handler, hookPath: [...placed.path, "lifecycle", "preStop"] }];
  });
}

export function preStopOf(container: RawObject): RawObject | undefined {
  return objectAt(objectAt(container, "lifecycle"), "preStop");
}

export function graceOf({ pod }: Workload): number {
  return wholeNumberAt(objectAt(pod, "spec"), "terminationGracePeriodSeconds") ?? DEFAULT_GRACE_SECONDS;
}

export function gracePath({ podPath }: Workload): Path {
  return [...podPath, "spec", "terminationGracePeriodSeconds"];
}

/** Services whose requests pass a proxy, which receives endpoint changes late. Headless Services only have DNS records. */
export function proxiedServicesOf({ services }: Workload): readonly LocatedObject[] {
  return services.filter(({ object }) => {
    const spec = objectAt(object, "spec");
    const isProxied = valueAt(spec, "clusterIP") !== "None" && valueAt(spec, "publishNotReadyAddresses") !== true;
    return isProxied && !objectsAt(spec, "ports").every(isForMetrics);
  });
}

/** Ports for metrics do not count, because Prometheus connects directly to each Pod. */
function isForMetrics(port: RawObject): boolean {
  return /(?:^|-)metrics$|^prometheus$/.test(textAt(port, "name") ?? "");
}

type ServingContainer = PlacedContainer & { readonly services: readonly string[] };

/** Returns the containers that declare a Service's target port. A Pod's only container does not have to declare the port. */
export function servingContainers(workload: Workload): readonly ServingContainer[] {
  const containers = containersIn(workload);
  const services = proxiedServicesOf(workload);
  return containers.flatMap((placed) => {
    const servingServices = services.filter(
      (service) =>
        containers.length === 1 || targetsOf(service).some((target) => declaresPort(placed.container, target)),
    );
    return servingServices.length === 0 ? [] : [{ ...placed, services: servingServices.map(({ name }) => name) }];
  });
}

function targetsOf({ object }: LocatedObject): readonly unknown[] {
  const ports = objectsAt(objectAt(object, "spec"), "ports").filter((port) => !isForMetrics(port));
  return ports.map((port) => valueAt(port, "targetPort") ?? valueAt(port, "port"));
}

function declaresPort(container: RawObject, target: unknown): boolean {
  const port = portNumberOf(container, target);
  return port !== undefined && objectsAt(container, "ports").some((declared) => declared["containerPort"] === port);
}
