/** Generates random EndpointSlices with few distinct names and addresses, so that they collide. */
import fc from "fast-check";
import type { RawObject } from "../../../src/kubernetes/raw-json.ts";

export const UIDS = ["uid-1", "uid-2", "uid-3"] as const;
export const ADDRESSES = ["10.0.0.1", "10.0.0.2", "fd00::1"] as const;

export type Conditions = { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };

export type EndpointCase = { readonly uid?: string; readonly address: string; readonly conditions?: Conditions };

export type SliceCase = {
  readonly name: string;
  readonly namespace?: string;
  readonly service?: string;
  readonly addressType?: string;
  readonly endpoints: readonly EndpointCase[];
};

/** Returns the EndpointSlice as the API server sends it. */
export function sliceObject({ name, namespace = "shop", service, addressType = "IPv4", endpoints }: SliceCase) {
  return {
    metadata: {
      name,
      namespace,
      labels: service === undefined ? {} : { "kubernetes.io/service-name": service },
    },
    addressType,
    endpoints: endpoints.map(({ uid, address, conditions = {} }) => ({
      addresses: [address],
      conditions,
      ...(uid === undefined ? {} : { targetRef: { kind: "Pod", name: `pod-of-${uid}`, uid } }),
    })),
  } satisfies RawObject;
}

const tristate = fc.constantFrom(undefined, false, true);

const endpointCases: fc.Arbitrary<EndpointCase> = fc
  .record({
    uid: fc.constantFrom(undefined, ...UIDS),
    address: fc.constantFrom(...ADDRESSES),
    ready: tristate,
    serving: tristate,
    terminating: tristate,
  })
  .map(({ uid, address, ...conditions }) => ({
    address,
    ...(uid === undefined ? {} : { uid }),
    conditions: Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined)),
  }));

export const sliceCases: fc.Arbitrary<SliceCase> = fc
  .record({
    name: fc.constantFrom("a", "b", "c", "d"),
    service: fc.constantFrom(undefined, "web", "api"),
    addressType: fc.constantFrom("IPv4", "IPv6", "FQDN"),
    endpoints: fc.array(endpointCases, { maxLength: 4 }),
  })
  .map(({ service, ...fields }) => (service === undefined ? fields : { ...fields, service }));

export const podCases = fc.record({
  name: fc.constant("pod"),
  uid: fc.constantFrom(...UIDS, "uid-no one-has"),
  addresses: fc.subarray([...ADDRESSES]),
});
