/** Plans requests and limits of the manager that keep the Pod's QoS class. */
import { containersOf, initContainersOf, isNativeSidecar } from "../../kubernetes/pod.ts";
import {
  type ComputeResource,
  limitOf,
  podLevelResources,
  type QosClass,
  qosClassOf,
  requestOf,
} from "../../kubernetes/qos.ts";
import { parseQuantity } from "../../kubernetes/quantity.ts";
import { objectAt, type RawObject, valueAt } from "../../kubernetes/raw-json.ts";
import type { PodPolicy } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import type { ResourcesChoice } from "../../policy/resources-codec.ts";

/** CRI-O refuses limits below 12 MiB; the manager needs up to 4.3 MB to start. */
const MEMORY_LIMIT = "16Mi";
const MEMORY_REQUEST = "2Mi";
const GUARANTEED_CPU = "10m";
const SMALLEST_CPU = "1m";
/** More than the manager needs, and a small part of a usual quota. */
const BURSTABLE_CPU_LIMIT = "100m";

type ManagerResourcesPlan = {
  readonly resources: RawObject | undefined;
  readonly resourcesWithoutHeadroom: RawObject | undefined;
};

export function planResources(pod: RawObject, choice: ResourcesChoice): ManagerResourcesPlan {
  if (choice !== "auto")
    return { resources: { requests: choice.requests, limits: choice.limits }, resourcesWithoutHeadroom: undefined };
  const podLevel = podLevelResources(pod);
  if (podLevel === undefined)
    return { resources: withCpuLimit(pod, resourcesFor(pod, qosClassOf(pod))), resourcesWithoutHeadroom: undefined };
  const desired = resourcesFor(pod, "Burstable");
  return fitsResources(pod, podLevel, desired)
    ? { resources: desired, resourcesWithoutHeadroom: undefined }
    : { resources: undefined, resourcesWithoutHeadroom: desired };
}

function resourcesFor(pod: RawObject, qos: QosClass): RawObject | undefined {
  if (qos === "BestEffort") return undefined;
  if (qos === "Guaranteed") {
    const amounts = { cpu: GUARANTEED_CPU, memory: MEMORY_LIMIT };
    return { requests: amounts, limits: { ...amounts } };
  }
  // A HorizontalPodAutoscaler on CPU fails if only some containers have a CPU request.
  const othersRequestCpu = containersOf(pod).some(
    (container) => requestOf(objectAt(container, "resources"), "cpu") > 0,
  );
  const requests = othersRequestCpu ? { cpu: SMALLEST_CPU, memory: MEMORY_REQUEST } : { memory: MEMORY_REQUEST };
  return { requests, limits: { memory: MEMORY_LIMIT } };
}

/** Adds a CPU limit if all other containers have one: otherwise a quota on CPU limits would refuse the Pod. */
function withCpuLimit(pod: RawObject, resources: RawObject | undefined): RawObject | undefined {
  const limits = objectAt(resources, "limits");
  if (limits === undefined || Object.hasOwn(limits, "cpu")) return resources;
  const allLimitCpu = containersOf(pod).every((container) => limitOf(objectAt(container, "resources"), "cpu") > 0);
  return allLimitCpu ? { ...resources, limits: { cpu: BURSTABLE_CPU_LIMIT, ...limits } } : resources;
}

export function fitsPodLevel(pod: RawObject, desired: RawObject): boolean {
  const podLevel = podLevelResources(pod);
  return podLevel === undefined || fitsResources(pod, podLevel, desired);
}

/** API servers refuse containers whose requests in sum exceed the Pod's request, or whose limit exceeds the Pod's limit. */
function fitsResources(pod: RawObject, podLevel: RawObject, desired: RawObject | undefined): boolean {
  return (["cpu", "memory"] as const).every((name) => {
    const request = requestOf(desired, name);
    const podRequest = requestOf(podLevel, name);
    const podLimit = limitOf(podLevel, name);
    const fitsRequest = podRequest === 0 || totalOf(pod, name, requestOf) + request <= podRequest;
    return fitsRequest && (podLimit === 0 || limitOf(desired, name) <= podLimit);
  });
}

/** Regular containers run together with all native sidecars, an init container only with the sidecars before it. */
export function totalOf(pod: RawObject, name: ComputeResource, amountOf: typeof requestOf): number {
  let sidecars = 0;
  let initPeak = 0;
  for (const container of initContainersOf(pod)) {
    const amount = amountOf(objectAt(container, "resources"), name);
    if (isNativeSidecar(container)) sidecars += amount;
    else initPeak = Math.max(initPeak, sidecars + amount);
  }
  const regular = containersOf(pod).reduce(
    (sum, container) => sum + amountOf(objectAt(container, "resources"), name),
    0,
  );
  return Math.max(sidecars + regular, initPeak);
}

/** Whether resources from the settings change the QoS class. */
function changesQos(before: QosClass, resources: RawObject | undefined): boolean {
  const hasAmount = (list: string) =>
    (["cpu", "memory"] as const).some((name) => (parseQuantity(valueAt(objectAt(resources, list), name)) ?? 0) > 0);
  if (before === "BestEffort") return hasAmount("requests") || hasAmount("limits");
  if (before !== "Guaranteed") return false;
  return !(["cpu", "memory"] as const).every(
    (name) => limitOf(resources, name) > 0 && requestOf(resources, name) === limitOf(resources, name),
  );
}

export function resourceProblems(
  planned: ManagerResourcesPlan,
  { pod, policy, where }: { readonly pod: RawObject; readonly policy: PodPolicy; readonly where: string },
): readonly Problem[] {
  const { resources, resourcesWithoutHeadroom } = planned;
  if (resourcesWithoutHeadroom !== undefined) {
    const message = `Leaves no room for the manager's resources ${JSON.stringify(resourcesWithoutHeadroom)}, so they are not set. Raise the pod-level resources to set them.`;
    return [{ code: "no_headroom", where: `${where}, spec.resources`, message }];
  }
  if (policy.resources === "auto" || podLevelResources(pod) !== undefined) return [];
  const before = qosClassOf(pod);
  if (!changesQos(before, resources)) return [];
  const message = `These resources change the Pod's QoS class ${before}. Set auto to keep it.`;
  return [{ code: "conflicting_values", where: `${where}, lastcall.dev/resources`, message }];
}
