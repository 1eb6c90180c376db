/** Computes the quality-of-service class of a Pod. */
import { containersOf, initContainersOf } from "./pod.ts";
import { parseQuantity } from "./quantity.ts";
import { objectAt, type RawObject, valueAt } from "./raw-json.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

export type ComputeResource = "cpu" | "memory";

const COMPUTE_RESOURCES: readonly ComputeResource[] = ["cpu", "memory"];

/**
 * Init containers count like containers; Pod-level resources override both.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
 */
export function qosClassOf(pod: RawObject): QosClass {
  const podLevel = podLevelResources(pod);
  const countedResources =
    podLevel === undefined
      ? [...initContainersOf(pod), ...containersOf(pod)].map((container) => objectAt(container, "resources"))
      : [podLevel];
  const isUnset = countedResources.every((resources) =>
    COMPUTE_RESOURCES.every((name) => requestOf(resources, name) === 0 && limitOf(resources, name) === 0),
  );
  if (isUnset) return "BestEffort";
  const isGuaranteed = countedResources.every((resources) =>
    COMPUTE_RESOURCES.every((name) => {
      const limit = limitOf(resources, name);
      return limit > 0 && requestOf(resources, name) === limit;
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

export function podLevelResources(pod: RawObject): RawObject | undefined {
  const resources = objectAt(objectAt(pod, "spec"), "resources");
  const isSet = COMPUTE_RESOURCES.some((name) => requestOf(resources, name) > 0 || limitOf(resources, name) > 0);
  return isSet ? resources : undefined;
}

/** Returns cores or bytes; 0 if not set. The request defaults to the limit. */
export function requestOf(resources: RawObject | undefined, name: ComputeResource): number {
  const requests = objectAt(resources, "requests");
  if (valueAt(requests, name) === undefined) return limitOf(resources, name);
  return parseQuantity(valueAt(requests, name)) ?? 0;
}

export function limitOf(resources: RawObject | undefined, name: ComputeResource): number {
  return parseQuantity(valueAt(objectAt(resources, "limits"), name)) ?? 0;
}
