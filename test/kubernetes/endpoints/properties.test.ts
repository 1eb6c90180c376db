/** Property tests of a Pod's endpoint state. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalAddress } from "../../../src/kubernetes/endpoints/address-text.ts";
import { endpointStateOf } from "../../../src/kubernetes/endpoints/endpoint-state-of.ts";
import { readSlice } from "../../../src/kubernetes/endpoints/read-slice.ts";
import type { EndpointStatus, PodIdentity } from "../../../src/kubernetes/endpoints/slice.ts";
import { expectedEndpointState } from "./flat-facts.ts";
import { arbitraryViews, type ManagedService, type PodStatus, slicesOfController } from "./histories.ts";
import { endpointStateIn, entryOf, type RawSlice, READY_CONDITIONS, readAll, sliceWith, WEB_0 } from "./raw-slices.ts";

/** The slices after the last step of a history. */
const arbitraryView = arbitraryViews.map((views) => views.at(-1) ?? []);

test("after every step of any history, the endpoint state of a Pod equals the state that an independent model computes", () => {
  const counts = { in: 0, out: 0, unknown: 0 };
  fc.assert(
    fc.property(arbitraryViews, (views) => {
      for (const raws of views) {
        const endpointState = endpointStateIn(raws);
        counts[endpointState.state] += 1;
        expect(summaryOf(endpointState)).toEqual(expectedEndpointState(raws, WEB_0));
      }
    }),
    { numRuns: 1_500 },
  );
  // The random histories must produce each state.
  expect(Math.min(counts.in, counts.out, counts.unknown)).toBeGreaterThan(20);
});

test("the endpoint state of a Pod does not depend on the order of EndpointSlices and endpoints", () => {
  fc.assert(
    fc.property(
      arbitraryView.chain((raws) => fc.tuple(fc.constant(raws), fc.shuffledSubarray(raws, { minLength: raws.length }))),
      ([raws, shuffled]) => {
        const reorderedSlices = shuffled.map((raw) => ({
          ...raw,
          endpoints: (raw["endpoints"] as RawSlice[]).toReversed(),
        }));
        expect(endpointStateIn(reorderedSlices)).toEqual(endpointStateIn(raws));
      },
    ),
  );
});

test("the endpoint state of a Pod is the same after a split into one EndpointSlice per endpoint", () => {
  fc.assert(
    fc.property(arbitraryView, (raws) => {
      const splitSlices = raws.flatMap((raw) =>
        (raw["endpoints"] as RawSlice[]).map((entry, index) =>
          renameSlice({ ...raw, endpoints: [entry] }, `part-${index}`),
        ),
      );
      expect(summaryOf(endpointStateIn(splitSlices))).toEqual(summaryOf(endpointStateIn(raws)));
    }),
  );
});

test("the endpoint state of a Pod is the same with duplicate EndpointSlices", () => {
  fc.assert(
    fc.property(arbitraryView, (raws) => {
      const withDuplicates = [...raws, ...raws.map((raw) => renameSlice(raw, "copy"))];
      expect(summaryOf(endpointStateIn(withDuplicates))).toEqual(summaryOf(endpointStateIn(raws)));
    }),
  );
});

test("an endpoint of another Pod with any address and conditions does not affect a Pod's endpoint state", () => {
  fc.assert(
    fc.property(arbitraryView, fc.boolean(), fc.boolean(), (raws, ready, terminating) => {
      const other: PodIdentity = { name: "web-0", uid: "uid-of-another-web-0", addresses: WEB_0.addresses };
      const withOtherPod = raws.map((raw) => ({
        ...raw,
        endpoints: [entryOf(other, { ready, terminating }), ...(raw["endpoints"] as RawSlice[])],
      }));
      expect(endpointStateIn(withOtherPod)).toEqual(endpointStateIn(raws));
    }),
  );
});

test("an additional ready endpoint of the Pod always gives the endpoint state `in`", () => {
  fc.assert(
    fc.property(arbitraryView, (raws) => {
      expect(
        endpointStateIn([...raws, sliceWith({ name: "one-more", service: "more" }, entryOf(WEB_0, READY_CONDITIONS))])
          .state,
      ).toBe("in");
    }),
  );
});

const arbitraryService: fc.Arbitrary<ManagedService> = fc.record({
  publishNotReady: fc.boolean(),
  families: fc.constantFrom<ManagedService["families"]>(["IPv4"], ["IPv6"], ["IPv4", "IPv6"]),
  podsPerSlice: fc.integer({ min: 1, max: 3 }),
});
const arbitrarySiblings: fc.Arbitrary<PodStatus[]> = fc.array(
  fc.record({
    pod: fc.nat(40).map((n) => ({ name: `s-${n}`, uid: `uid-${n}`, addresses: [`10.0.1.${n}`, `fd00::1:${n}`] })),
    isReady: fc.boolean(),
    isDeleted: fc.boolean(),
  }),
  { maxLength: 6 },
);

test("with managed EndpointSlices a Pod has the endpoint state `in` exactly while it is not deleted and ready for a Service", () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryService, { maxLength: 3 }),
      arbitrarySiblings,
      fc.boolean(),
      fc.boolean(),
      (services, siblings, isReady, isDeleted) => {
        const pods = [...siblings, { pod: WEB_0, isReady, isDeleted }];
        const raws = services.flatMap((service, index) => slicesOfController(`service-${index}`, service, pods));
        const isReadyEndpoint = services.some((service) => (isReady || service.publishNotReady) && !isDeleted);
        expect(endpointStateIn(raws)).toMatchObject({
          state: isReadyEndpoint ? "in" : "out",
          terminating: isDeleted && services.length > 0,
        });
        expect(endpointStateIn(raws).services).toHaveLength(services.flatMap((service) => service.families).length);
      },
    ),
  );
});

test("a deleted Pod has the endpoint state `in` until all its EndpointSlices are updated", () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryService, { minLength: 1, maxLength: 3 }),
      arbitrarySiblings,
      fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
      (services, siblings, isUpdated) => {
        const writeSlices = (isDeleted: boolean) =>
          services.flatMap((service, index) =>
            slicesOfController(`service-${index}`, service, [...siblings, { pod: WEB_0, isReady: true, isDeleted }]),
          );
        const [before, after] = [writeSlices(false), writeSlices(true)];
        const receivedSlices = before.map((raw, index) => (isUpdated[index] ? (after[index] ?? raw) : raw));
        const hasReadyEndpoint = receivedSlices.some((raw, index) => raw === before[index] && containsPod(raw));
        expect(endpointStateIn(receivedSlices).state).toBe(hasReadyEndpoint ? "in" : "out");
        expect(endpointStateIn(receivedSlices).terminating).toBe(
          receivedSlices.some((raw, index) => raw !== before[index] && containsPod(raw)),
        );
      },
    ),
  );
});

test("readSlice does not throw for any input, and endpointStateOf accepts its result", () => {
  const arbitraryHostileJson = fc.oneof(
    fc.object({ key: fc.constantFrom("metadata", "name", "labels", "endpoints", "addresses", "conditions", "x") }),
    fc.record({
      metadata: fc.oneof(fc.anything(), fc.record({ name: fc.string(), labels: fc.anything() })),
      endpoints: fc.oneof(
        fc.anything(),
        fc.array(fc.record({ addresses: fc.anything(), targetRef: fc.anything(), conditions: fc.anything() })),
      ),
      addressType: fc.anything(),
    }),
  );
  fc.assert(
    fc.property(arbitraryHostileJson, (raw) => {
      const slice = readSlice(raw);
      if (slice !== undefined) expect(["in", "out", "unknown"]).toContain(endpointStateOf([slice], WEB_0).state);
    }),
    { numRuns: 1_000 },
  );
});

test.for<[string, RawSlice]>([
  ["a Status", { kind: "Status", metadata: { name: "x" } }],
  ["a bookmark", { kind: "EndpointSlice", metadata: { resourceVersion: "7" } }],
  ["an empty object", {}],
])("readSlice returns undefined for %s", ([, raw]) => {
  expect(readSlice(raw)).toBeUndefined();
});

test("an EndpointSlice with null, missing or empty endpoints is read as empty", () => {
  for (const endpoints of [null, undefined, []]) {
    expect(readAll([{ ...sliceWith({}), endpoints }])).toMatchObject([{ name: "web-abc", endpoints: [] }]);
  }
});

test("all spellings of an IP address have the same canonical form", () => {
  const arbitraryGroup = fc.constantFrom("0", "00", "0000", "7", "0a", "FFff", "1234");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV4(),
        fc.ipV6(),
        fc.array(arbitraryGroup, { minLength: 8, maxLength: 8 }).map((all) => all.join(":")),
      ),
      (text) => {
        const canonical = canonicalAddress(text);
        expect(canonicalAddress(canonical)).toBe(canonical);
        expect(canonicalAddress(text.toUpperCase())).toBe(canonical);
        expect(
          expectedEndpointState([sliceWith({}, { addresses: [text] })], { ...WEB_0, addresses: [canonical] }).state,
        ).toBe("in");
      },
    ),
  );
});

function summaryOf({ state, terminating, services }: EndpointStatus) {
  return {
    state,
    terminating,
    services: Object.fromEntries(
      services.map(({ service, family, state: ofService }) => [`${service}/${family}`, ofService]),
    ),
  };
}

function renameSlice(raw: RawSlice, suffix: string): RawSlice {
  const metadata = raw["metadata"] as RawSlice;
  return { ...raw, metadata: { ...metadata, name: `${metadata["name"]}-${suffix}` } };
}

function containsPod(raw: RawSlice): boolean {
  return JSON.stringify(raw).includes(`"${WEB_0.uid}"`);
}
