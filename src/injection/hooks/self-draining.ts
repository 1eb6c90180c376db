/** Recognises Pods whose own containers drain the Pod. */
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

/** Facts of Knative Serving 0.50. */
const KNATIVE_PROXY = "queue-proxy";
const KNATIVE_DRAIN_PATH = "/wait-for-drain";

/**
 * Knative's queue-proxy holds the user's containers with a preStop hook that requests its drain. It fails its readiness probe,
 * and releases them after 30 s without requests. A second drain would only delay its stop signal, after which it drains again.
 */
export function isKnativePod(pod: RawObject): boolean {
  const containers = containersOf(pod);
  return (
    containers.some((container) => nameOf(container) === KNATIVE_PROXY) &&
    containers.some((container) => textAt(preStopGet(container), "path") === KNATIVE_DRAIN_PATH)
  );
}

function preStopGet(container: RawObject): RawObject | undefined {
  return objectAt(objectAt(objectAt(container, "lifecycle"), "preStop"), "httpGet");
}
