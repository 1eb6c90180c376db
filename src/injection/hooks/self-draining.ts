/** Recognises Pods whose own containers drain the Pod. */
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

/** Facts of Knative Serving 0.50. */
const KNATIVE_PROXY = "queue-proxy";
const KNATIVE_DRAIN_PATH = "/wait-for-drain";

/**
 * The preStop hooks of the user's containers request the drain of Knative's queue-proxy. The proxy then fails its readiness probe, and
 * answers the hooks after 30 s without requests. A second drain would only delay the proxy's stop signal, after which it drains again.
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
