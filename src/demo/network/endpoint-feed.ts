/** Turns what happens to Pods into endpoint changes, as the EndpointSlice controller does. */
import type { PodIdentity } from "../pods/pod-runner.ts";
import type { PodEvent } from "../pods/running-pod.ts";
import type { EndpointChange } from "./service-endpoints.ts";

/** @returns the consumer of every Pod's events. */
export function createEndpointFeed(
  tell: (change: EndpointChange, pod: PodIdentity) => void,
): (pod: PodIdentity, event: PodEvent) => void {
  const serving = new Set<string>();
  const terminating = new Set<string>();
  return (pod, event) => {
    const { address } = pod;
    if (event.what === "ready") serving.add(address);
    else if (event.what === "unready") serving.delete(address);
    else if (event.what === "deleted") terminating.add(address);
    else if (event.what !== "gone") return;
    if (event.what === "gone") tell({ address, gone: true }, pod);
    else tell({ address, serving: serving.has(address), terminating: terminating.has(address) }, pod);
  };
}
