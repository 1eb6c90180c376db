import fc from "fast-check";
import { expect, test } from "vitest";
import { belongsToPod, endpointStateOf } from "../../../src/kubernetes/endpoints/endpoint-state-of.ts";
import { readSlice } from "../../../src/kubernetes/endpoints/read-slice.ts";
import type { Slice, SliceEndpoint } from "../../../src/kubernetes/endpoints/slice.ts";
import {
  hashKeys,
  isSameSlice,
  keysOfPod,
  mayContain,
  packSlice,
  unpackEndpoints,
} from "../../../src/relay/slices/packed-slice.ts";
import { podCases, type SliceCase, sliceCases, sliceObject } from "./slice-cases.ts";

function parseSlice(sliceCase: SliceCase): Slice {
  const slice = readSlice(sliceObject(sliceCase));
  if (slice === undefined) throw new Error("the case is not a slice");
  return slice;
}

/** Returns the distinct conditions. */
const conditionsOf = (endpoints: readonly SliceEndpoint[]) =>
  new Set(endpoints.map(({ ready, terminating }) => `${ready} ${terminating}`));

test("a packed EndpointSlice gives each Pod the same endpoint state as the original EndpointSlice", () => {
  fc.assert(
    fc.property(sliceCases, podCases, (sliceCase, pod) => {
      const slice = parseSlice(sliceCase);
      const packed = packSlice(slice);
      const keys = keysOfPod(pod);
      const endpoints = [...unpackEndpoints(packed, (key) => keys.includes(key)).values()].flat();
      expect(endpointStateOf([{ ...slice, endpoints }], pod)).toEqual(endpointStateOf([slice], pod));
      const podEndpoints = slice.endpoints.filter((endpoint) => belongsToPod(endpoint, pod.uid, pod.addresses));
      expect(conditionsOf(endpoints)).toEqual(conditionsOf(podEndpoints));
      if (endpoints.length > 0) expect(mayContain(packed, hashKeys(keys))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("two packed EndpointSlices are equal exactly if their contents are equal", () => {
  const createCase = (ready: boolean): SliceCase => ({
    name: "a",
    service: "web",
    endpoints: [{ uid: "uid-1", address: "10.0.0.1", conditions: { ready } }],
  });
  const packed = packSlice(parseSlice(createCase(true)));
  expect(isSameSlice(packed, packSlice(parseSlice(createCase(true))))).toBe(true);
  expect(isSameSlice(packed, packSlice(parseSlice(createCase(false))))).toBe(false);
  expect(isSameSlice(packed, packSlice(parseSlice({ ...createCase(true), service: "api" })))).toBe(false);
  expect(isSameSlice(packed, packSlice(parseSlice({ ...createCase(true), addressType: "IPv6" })))).toBe(false);
  expect(isSameSlice(packed, undefined)).toBe(false);
  expect(isSameSlice(undefined, undefined)).toBe(true);
});

test("a packed EndpointSlice does not confuse a Pod uid with an address of the same text", () => {
  const packed = packSlice(parseSlice({ name: "a", service: "web", endpoints: [{ address: "10.0.0.1" }] }));
  expect(unpackEndpoints(packed, (key) => key === "=10.0.0.1").size).toBe(0);
  expect(unpackEndpoints(packed, (key) => key === "@10.0.0.1").get("@10.0.0.1")).toHaveLength(1);
});

test("line breaks and quotes in handwritten EndpointSlices stay inside their endpoint", () => {
  const addresses = ['x\nA=uid-1"', "\\", "10.0.0.9"];
  const endpoints = addresses.map((address) => ({ address }));
  const packed = packSlice(parseSlice({ name: "a", service: "web", endpoints }));
  expect(unpackEndpoints(packed, (key) => key === "=uid-1").size).toBe(0);
  expect(unpackEndpoints(packed, (key) => key === "@10.0.0.9").get("@10.0.0.9")).toHaveLength(1);
});

test("an address that an EndpointSlice repeats a thousand times is found once per distinct endpoint", () => {
  const endpoints = Array.from({ length: 1_000 }, (_, index) => ({
    address: "10.0.0.1",
    conditions: { ready: index % 2 === 0 },
  }));
  const packed = packSlice(parseSlice({ name: "a", service: "web", endpoints }));
  const found = unpackEndpoints(packed, () => true).get("@10.0.0.1") ?? [];
  expect(found.map(({ ready }) => ready)).toEqual([true, false]);
});
