/** Builds EndpointSlices for the tests of the endpoint state. */

import { endpointStateOf } from "../../../src/kubernetes/endpoints/endpoint-state-of.ts";
import { readSlice } from "../../../src/kubernetes/endpoints/read-slice.ts";
import type { EndpointStatus, PodIdentity, Slice } from "../../../src/kubernetes/endpoints/slice.ts";

export type RawSlice = { [key: string]: unknown };

export const CONTROLLER = "endpointslice-controller.k8s.io";
export const MIRRORING = "endpointslicemirroring-controller.k8s.io";

export const WEB_0: PodIdentity = { name: "web-0", uid: "uid-of-web-0", addresses: ["10.0.0.7", "fd00::7"] };

export type Conditions = { readonly ready?: unknown; readonly serving?: unknown; readonly terminating?: unknown };

export const READY_CONDITIONS: Conditions = { ready: true, serving: true, terminating: false };
export const TERMINATING_CONDITIONS: Conditions = { ready: false, serving: true, terminating: true };

export function entryOf(
  pod: PodIdentity,
  conditions: Conditions = READY_CONDITIONS,
  address = pod.addresses[0],
): RawSlice {
  const targetRef = { kind: "Pod", namespace: "shop", name: pod.name, uid: pod.uid };
  return { addresses: [address], conditions, nodeName: "node-1", targetRef };
}

export type SliceFields = {
  readonly name?: string;
  /** `undefined`: the slice does not have the label. */
  readonly service?: string | undefined;
  readonly managedBy?: string;
  readonly addressType?: string;
};

export function sliceWith(fields: SliceFields, ...endpoints: readonly RawSlice[]): RawSlice {
  const { name = "web-abc", service = "web", managedBy = CONTROLLER, addressType = "IPv4" } = fields;
  const labels = "service" in fields && fields.service === undefined ? {} : { "kubernetes.io/service-name": service };
  return {
    addressType,
    apiVersion: "discovery.k8s.io/v1",
    endpoints,
    kind: "EndpointSlice",
    metadata: {
      name,
      namespace: "shop",
      labels: { ...labels, "endpointslice.kubernetes.io/managed-by": managedBy },
    },
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  };
}

export function readAll(raws: Iterable<RawSlice>): Slice[] {
  return [...raws].map(readSlice).filter((slice) => slice !== undefined);
}

export function endpointStateIn(raws: Iterable<RawSlice>, pod: PodIdentity = WEB_0): EndpointStatus {
  return endpointStateOf(readAll(raws), pod);
}
