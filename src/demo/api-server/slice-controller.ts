/** Simulates the EndpointSlice controller for one Service, with a configurable lag behind its Pods. */
import type { Clock } from "../clock.ts";
import type { Json } from "../json.ts";
import type { Endpoint, EndpointChange } from "../network/service-proxy.ts";
import type { PodIdentity } from "../pods/pod-runner.ts";
import type { PodEvent } from "../pods/running-pod.ts";

type SlicedService = { readonly namespace: string; readonly name: string; readonly port: number };

export type SlicePorts = {
  readonly clock: Clock;
  readonly service: SlicedService;
  readonly lagMs: number;
  readonly write: (slice: Json) => void;
};

type SliceController = {
  readonly enqueue: (change: EndpointChange, pod: PodIdentity) => void;
  readonly flush: () => void;
  /** Clock time at which the Pod's endpoint stopped being ready; `undefined` while it is ready or if it never was. */
  readonly withdrawnMs: (pod: Pick<PodIdentity, "uid">) => number | undefined;
  readonly close: () => void;
};

type PendingChange = { readonly change: EndpointChange; readonly pod: PodIdentity };
type SlicedEndpoint = { readonly endpoint: Endpoint; readonly pod: PodIdentity };

export function createSliceController({ clock, service, lagMs, write }: SlicePorts): SliceController {
  const closing = new AbortController();
  const pending = new Set<PendingChange>();
  const endpoints = new Map<string, SlicedEndpoint>();
  const withdrawalMsByUid = new Map<string, number>();

  const apply = (pendingChange: PendingChange): void => {
    const { change, pod } = pendingChange;
    const previous = endpoints.get(change.address);
    const endpoint = "gone" in change ? undefined : change;
    pending.delete(pendingChange);
    endpoints.delete(change.address);
    if (endpoint !== undefined) endpoints.set(change.address, { endpoint, pod });
    if (isReady(endpoint)) withdrawalMsByUid.delete(pod.uid);
    else if (isReady(previous?.endpoint)) withdrawalMsByUid.set(pod.uid, clock.nowMs());
  };
  const writeSlice = (): void => write(sliceOf(service, [...endpoints.values()]));

  return {
    enqueue: (change, pod) => {
      const pendingChange = { change, pod };
      pending.add(pendingChange);
      void clock.wait(lagMs, closing.signal).then(() => {
        if (closing.signal.aborted || !pending.has(pendingChange)) return;
        apply(pendingChange);
        writeSlice();
      });
    },
    flush: () => {
      for (const pendingChange of pending) apply(pendingChange);
      writeSlice();
    },
    withdrawnMs: ({ uid }) => withdrawalMsByUid.get(uid),
    close: () => closing.abort(),
  };
}

export const NODE_NAME = "this-machine";

/** A real controller starts a second slice at 100 endpoints, more than the demo has. */
function sliceOf({ namespace, name, port }: SlicedService, endpoints: readonly SlicedEndpoint[]): Json {
  return {
    metadata: {
      name: `${name}-x7k2q`,
      generateName: `${name}-`,
      namespace,
      labels: {
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, controller: true, blockOwnerDeletion: true }],
    },
    addressType: "IPv4",
    endpoints: endpoints.map(({ endpoint, pod }) => ({
      addresses: [endpoint.address],
      conditions: { ready: isReady(endpoint), serving: endpoint.serving, terminating: endpoint.terminating },
      nodeName: NODE_NAME,
      targetRef: { kind: "Pod", namespace, name: pod.name, uid: pod.uid },
    })),
    ports: [{ name: "", port, protocol: "TCP" }],
  };
}

function isReady(endpoint: Endpoint | undefined): boolean {
  return endpoint?.serving === true && !endpoint.terminating;
}

export function createEndpointFeed(
  enqueue: (change: EndpointChange, pod: PodIdentity) => void,
): (pod: PodIdentity, event: PodEvent) => void {
  const servingAddresses = new Set<string>();
  const terminatingAddresses = new Set<string>();
  return (pod, { type }) => {
    const { address } = pod;
    if (type === "gone") return enqueue({ address, gone: true }, pod);
    if (type === "ready") servingAddresses.add(address);
    else if (type === "unready") servingAddresses.delete(address);
    else if (type === "deleted") terminatingAddresses.add(address);
    else return;
    enqueue({ address, serving: servingAddresses.has(address), terminating: terminatingAddresses.has(address) }, pod);
  };
}
