/** Keeps the EndpointSlice of a Service as its controller does: a little behind the Pods. */
import type { Clock } from "../clock.ts";
import type { Json } from "../json.ts";
import type { Endpoint, EndpointChange } from "../network/service-proxy.ts";
import type { PodIdentity } from "../pods/pod-runner.ts";
import type { PodEvent } from "../pods/running-pod.ts";

type SlicedService = { readonly namespace: string; readonly name: string; readonly port: number };

export type SlicePorts = {
  readonly clock: Clock;
  readonly service: SlicedService;
  /** From the change of a Pod to the change of the slice. */
  readonly lagMs: number;
  readonly write: (slice: Json) => void;
};

type SliceController = {
  readonly tell: (change: EndpointChange, pod: PodIdentity) => void;
  /** Writes every pending change now. */
  readonly catchUp: () => void;
  /** When the slice stopped offering the Pod, on the clock; `undefined` when it offers it or never did. */
  readonly withdrawnMs: (pod: Pick<PodIdentity, "uid">) => number | undefined;
  readonly close: () => void;
};

type PendingChange = { readonly change: EndpointChange; readonly pod: PodIdentity };
type SlicedEndpoint = { readonly endpoint: Endpoint; readonly pod: PodIdentity };

export function createSliceController({ clock, service, lagMs, write }: SlicePorts): SliceController {
  const closing = new AbortController();
  const pending = new Set<PendingChange>();
  const endpoints = new Map<string, SlicedEndpoint>();
  const withdrawn = new Map<string, number>();

  const apply = (each: PendingChange): void => {
    const { change, pod } = each;
    const before = endpoints.get(change.address);
    const endpoint = "gone" in change ? undefined : change;
    pending.delete(each);
    // The changed endpoint comes last.
    endpoints.delete(change.address);
    if (endpoint !== undefined) endpoints.set(change.address, { endpoint, pod });
    if (isOffered(endpoint)) withdrawn.delete(pod.uid);
    else if (isOffered(before?.endpoint)) withdrawn.set(pod.uid, clock.nowMs());
  };
  const writeSlice = (): void => write(sliceOf(service, [...endpoints.values()]));

  return {
    tell: (change, pod) => {
      const each = { change, pod };
      pending.add(each);
      void clock.wait(lagMs, closing.signal).then(() => {
        if (closing.signal.aborted || !pending.has(each)) return;
        apply(each);
        writeSlice();
      });
    },
    catchUp: () => {
      for (const each of pending) apply(each);
      writeSlice();
    },
    withdrawnMs: ({ uid }) => withdrawn.get(uid),
    close: () => closing.abort(),
  };
}

/** The one node of the demo. */
export const NODE_NAME = "this-machine";

/** One slice is enough: a real controller begins a second one at 100 endpoints. */
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
      conditions: { ready: isOffered(endpoint), serving: endpoint.serving, terminating: endpoint.terminating },
      nodeName: NODE_NAME,
      targetRef: { kind: "Pod", namespace, name: pod.name, uid: pod.uid },
    })),
    ports: [{ name: "", port, protocol: "TCP" }],
  };
}

/** The condition `ready`: a terminating Pod never has it. */
function isOffered(endpoint: Endpoint | undefined): boolean {
  return endpoint?.serving === true && !endpoint.terminating;
}

/** Turns events of Pods into changes of endpoints. */
export function createEndpointFeed(
  tell: (change: EndpointChange, pod: PodIdentity) => void,
): (pod: PodIdentity, event: PodEvent) => void {
  const serving = new Set<string>();
  const terminating = new Set<string>();
  return (pod, { what }) => {
    const { address } = pod;
    if (what === "gone") return tell({ address, gone: true }, pod);
    if (what === "ready") serving.add(address);
    else if (what === "unready") serving.delete(address);
    else if (what === "deleted") terminating.add(address);
    else return;
    tell({ address, serving: serving.has(address), terminating: terminating.has(address) }, pod);
  };
}
