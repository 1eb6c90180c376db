import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endpointStateOf } from "../../../src/kubernetes/endpoints/endpoint-state-of.ts";
import { readSlice } from "../../../src/kubernetes/endpoints/read-slice.ts";
import type { EndpointStatus, PodIdentity, Slice } from "../../../src/kubernetes/endpoints/slice.ts";
import { createSliceIndex, type IndexSubscription, type SliceIndex } from "../../../src/relay/slices/slice-index.ts";
import { podCases, type SliceCase, sliceCases, sliceObject } from "./slice-cases.ts";

type Step =
  | { readonly kind: "put"; readonly slice: SliceCase }
  | { readonly kind: "remove"; readonly slice: SliceCase }
  | { readonly kind: "list"; readonly slices: readonly SliceCase[] }
  | { readonly kind: "ask"; readonly pod: PodIdentity }
  | { readonly kind: "leave"; readonly clientIndex: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("put" as const), slice: sliceCases }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), slice: sliceCases }) },
  fc.record({ kind: fc.constant("list" as const), slices: fc.array(sliceCases, { maxLength: 3 }) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("ask" as const), pod: podCases }) },
  fc.record({ kind: fc.constant("leave" as const), clientIndex: fc.nat(5) }),
);

type Client = {
  readonly pod: PodIdentity;
  readonly entry: IndexSubscription;
  status: EndpointStatus;
  callCount: number;
};

/** Applies a step to the index and to a map of the slices, which is the model of the index. */
function applyStep(step: Step, index: SliceIndex, slices: Map<string, Slice>, clients: Client[]): void {
  const objectOf = (sliceCase: SliceCase) => sliceObject(sliceCase);
  const put = (sliceCase: SliceCase): void => {
    const slice = readSlice(objectOf(sliceCase));
    if (slice !== undefined) slices.set(sliceCase.name, slice);
  };
  if (step.kind === "put") {
    put(step.slice);
    index.store.put(objectOf(step.slice));
  } else if (step.kind === "remove") {
    slices.delete(step.slice.name);
    index.store.remove(objectOf(step.slice));
  } else if (step.kind === "list") {
    slices.clear();
    for (const sliceCase of step.slices) put(sliceCase);
    const packed = new Map(
      [...slices.keys()].map((name) => {
        const sliceCase = step.slices.findLast((each) => each.name === name);
        return [`shop/${name}`, sliceCase === undefined ? undefined : index.store.reduce(objectOf(sliceCase))] as const;
      }),
    );
    index.store.replace([...packed].flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])));
  } else if (step.kind === "ask") {
    const holder: { client?: Client } = {};
    const entry = index.add(step.pod, () => {
      if (holder.client === undefined) return;
      holder.client.callCount += 1;
      holder.client.status = endpointStateOf(holder.client.entry.slices(), step.pod);
    });
    holder.client = { pod: step.pod, entry, status: endpointStateOf(entry.slices(), step.pod), callCount: 0 };
    clients.push(holder.client);
  } else {
    for (const { entry } of clients.splice(step.clientIndex, 1)) entry.unsubscribe();
  }
}

test("a client always has the status that all EndpointSlices together give its Pod", () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 30 }), (history) => {
      const index = createSliceIndex();
      const slices = new Map<string, Slice>();
      const clients: Client[] = [];
      for (const step of history) {
        applyStep(step, index, slices, clients);
        for (const { pod, status } of clients) expect(status).toEqual(endpointStateOf(slices.values(), pod));
      }
    }),
    { numRuns: 400 },
  );
});

const pod = (uid: string): PodIdentity => ({ name: "pod", uid, addresses: ["10.9.9.9"] });

describe("a change of an EndpointSlice", () => {
  test("notifies only the Pods of the old and the new version", () => {
    const index = createSliceIndex();
    const calledClients: string[] = [];
    for (const uid of ["uid-1", "uid-2", "uid-3"]) index.add(pod(uid), () => calledClients.push(uid));
    const sliceOf = (uid: string) =>
      sliceObject({ name: "a", service: "web", endpoints: [{ uid, address: "10.0.0.1" }] });
    index.store.put(sliceOf("uid-1"));
    expect(calledClients.splice(0)).toEqual(["uid-1"]);
    index.store.put(sliceOf("uid-2"));
    expect(calledClients.splice(0)).toEqual(["uid-1", "uid-2"]);
    index.store.put(sliceOf("uid-2"));
    expect(calledClients).toEqual([]);
  });

  test("of the condition `serving` does not notify a client", () => {
    const index = createSliceIndex();
    let calls = 0;
    index.add(pod("uid-1"), () => {
      calls += 1;
    });
    for (const serving of [true, false]) {
      const endpoints = [{ uid: "uid-1", address: "10.0.0.1", conditions: { ready: false, serving } }];
      index.store.put(sliceObject({ name: "a", service: "web", endpoints }));
    }
    expect(calls).toBe(1);
  });

  test("notifies a client once, even if a list contains several EndpointSlices of its Pod", () => {
    const index = createSliceIndex();
    let calls = 0;
    index.add(pod("uid-1"), () => {
      calls += 1;
    });
    const names = ["a", "b", "c"];
    const listedSlices = names.map((name) => {
      const object = sliceObject({ name, service: "web", endpoints: [{ uid: "uid-1", address: "10.0.0.1" }] });
      return [`shop/${name}`, index.store.reduce(object)] as const;
    });
    index.store.replace(listedSlices.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])));
    expect(calls).toBe(1);
  });

  test("does not notify a client that unsubscribed, even twice, and still notifies another client of the same Pod", () => {
    const index = createSliceIndex();
    let calls = 0;
    const count = (): void => {
      calls += 1;
    };
    const removedClient = index.add(pod("uid-1"), count);
    index.add(pod("uid-1"), count);
    removedClient.unsubscribe();
    removedClient.unsubscribe();
    index.store.put(sliceObject({ name: "a", service: "web", endpoints: [{ uid: "uid-1", address: "10.0.0.1" }] }));
    expect(calls).toBe(1);
  });
});

test("with 5 000 Pods in 1 500 EndpointSlices, a watch event visits only the Pods of its slice", {
  timeout: 300_000,
}, () => {
  const index = createSliceIndex();
  const endpointsOf = (slice: number, ready: boolean) =>
    Array.from({ length: 100 }, (_, at) => ({
      uid: `uid-${slice}-${at}`,
      address: `10.${slice >> 8}.${slice & 255}.${at}`,
      conditions: { ready },
    }));
  const object = (slice: number, ready: boolean) =>
    sliceObject({ name: `s-${slice}`, service: "web", endpoints: endpointsOf(slice, ready) });
  for (let slice = 0; slice < 1_500; slice += 1) index.store.put(object(slice, true));
  const calledUids = new Set<string>();
  for (let slice = 0; slice < 50; slice += 1) {
    for (const { uid } of endpointsOf(slice, true)) index.add(pod(uid), () => calledUids.add(uid));
  }
  index.store.put(object(7, false));
  expect(calledUids).toEqual(new Set(endpointsOf(7, true).map(({ uid }) => uid)));
  expect(index.store.entries.size).toBe(1_500);
});
