/** Property tests of rotation. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalAddress } from "../../../src/kubernetes/rotation/address-text.ts";
import { readSlice } from "../../../src/kubernetes/rotation/read-slice.ts";
import type { EndpointState, PodIdentity } from "../../../src/kubernetes/rotation/rotation.ts";
import { endpointStateOf } from "../../../src/kubernetes/rotation/rotation-of.ts";
import { expectedRotation } from "./flat-facts.ts";
import { arbitraryViews, type Controlled, type PodNow, writtenByController } from "./histories.ts";
import { entryOf, type RawSlice, READY, readAll, rotationIn, sliceWith, WEB_0 } from "./raw-slices.ts";

/** The last and fullest moment of a history. */
const arbitraryView = arbitraryViews.map((views) => views.at(-1) ?? []);

test("after every step of any history, the rotation of a Pod equals that of an independent model", () => {
  const seen = { in: 0, out: 0, unknown: 0 };
  fc.assert(
    fc.property(arbitraryViews, (views) => {
      for (const raws of views) {
        const rotation = rotationIn(raws);
        seen[rotation.state] += 1;
        expect(summaryOf(rotation)).toEqual(expectedRotation(raws, WEB_0));
      }
    }),
    { numRuns: 1_500 },
  );
  // Each state must occur, or the test would prove nothing.
  expect(Math.min(seen.in, seen.out, seen.unknown)).toBeGreaterThan(20);
});

test("the rotation of a Pod does not depend on the order of EndpointSlices and endpoints", () => {
  fc.assert(
    fc.property(
      arbitraryView.chain((raws) => fc.tuple(fc.constant(raws), fc.shuffledSubarray(raws, { minLength: raws.length }))),
      ([raws, shuffled]) => {
        const turned = shuffled.map((raw) => ({ ...raw, endpoints: (raw["endpoints"] as RawSlice[]).toReversed() }));
        expect(rotationIn(turned)).toEqual(rotationIn(raws));
      },
    ),
  );
});

test("the rotation of a Pod is the same after a split into one EndpointSlice per endpoint", () => {
  fc.assert(
    fc.property(arbitraryView, (raws) => {
      const split = raws.flatMap((raw) =>
        (raw["endpoints"] as RawSlice[]).map((entry, index) =>
          renamed({ ...raw, endpoints: [entry] }, `part-${index}`),
        ),
      );
      expect(summaryOf(rotationIn(split))).toEqual(summaryOf(rotationIn(raws)));
    }),
  );
});

test("the rotation of a Pod is the same with duplicate EndpointSlices", () => {
  fc.assert(
    fc.property(arbitraryView, (raws) => {
      const twice = [...raws, ...raws.map((raw) => renamed(raw, "copy"))];
      expect(summaryOf(rotationIn(twice))).toEqual(summaryOf(rotationIn(raws)));
    }),
  );
});

test("an endpoint of another Pod with any address and conditions does not affect a Pod's rotation", () => {
  fc.assert(
    fc.property(arbitraryView, fc.boolean(), fc.boolean(), (raws, ready, terminating) => {
      const other: PodIdentity = { name: "web-0", uid: "uid-of-another-web-0", addresses: WEB_0.addresses };
      const crowded = raws.map((raw) => ({
        ...raw,
        endpoints: [entryOf(other, { ready, terminating }), ...(raw["endpoints"] as RawSlice[])],
      }));
      expect(rotationIn(crowded)).toEqual(rotationIn(raws));
    }),
  );
});

test("an additional ready endpoint of the Pod always gives the status in", () => {
  fc.assert(
    fc.property(arbitraryView, (raws) => {
      expect(rotationIn([...raws, sliceWith({ name: "one-more", service: "more" }, entryOf(WEB_0, READY))]).state).toBe(
        "in",
      );
    }),
  );
});

const arbitraryControlled: fc.Arbitrary<Controlled> = fc.record({
  publishNotReady: fc.boolean(),
  families: fc.constantFrom<Controlled["families"]>(["IPv4"], ["IPv6"], ["IPv4", "IPv6"]),
  podsPerSlice: fc.integer({ min: 1, max: 3 }),
});
const arbitrarySiblings: fc.Arbitrary<PodNow[]> = fc.array(
  fc.record({
    pod: fc.nat(40).map((n) => ({ name: `s-${n}`, uid: `uid-${n}`, addresses: [`10.0.1.${n}`, `fd00::1:${n}`] })),
    isReady: fc.boolean(),
    isDeleted: fc.boolean(),
  }),
  { maxLength: 6 },
);

test("with managed EndpointSlices a Pod is in exactly while a Service has it ready and it is not deleted", () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryControlled, { maxLength: 3 }),
      arbitrarySiblings,
      fc.boolean(),
      fc.boolean(),
      (services, siblings, isReady, isDeleted) => {
        const pods = [...siblings, { pod: WEB_0, isReady, isDeleted }];
        const raws = services.flatMap((how, index) => writtenByController(`service-${index}`, how, pods));
        const isOffered = services.some((how) => (isReady || how.publishNotReady) && !isDeleted);
        expect(rotationIn(raws)).toMatchObject({
          state: isOffered ? "in" : "out",
          terminating: isDeleted && services.length > 0,
        });
        expect(rotationIn(raws).services).toHaveLength(services.flatMap((how) => how.families).length);
      },
    ),
  );
});

test("a deleted Pod has the status in until all its EndpointSlices are updated", () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryControlled, { minLength: 1, maxLength: 3 }),
      arbitrarySiblings,
      fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
      (services, siblings, caughtUp) => {
        const write = (isDeleted: boolean) =>
          services.flatMap((how, index) =>
            writtenByController(`service-${index}`, how, [...siblings, { pod: WEB_0, isReady: true, isDeleted }]),
          );
        const [before, after] = [write(false), write(true)];
        const seen = before.map((raw, index) => (caughtUp[index] ? (after[index] ?? raw) : raw));
        const isStillOffered = seen.some((raw, index) => raw === before[index] && mentionsPod(raw));
        expect(rotationIn(seen).state).toBe(isStillOffered ? "in" : "out");
        expect(rotationIn(seen).terminating).toBe(seen.some((raw, index) => raw !== before[index] && mentionsPod(raw)));
      },
    ),
  );
});

test("readSlice throws for no input, and rotationOf accepts its result", () => {
  const hostile = fc.oneof(
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
    fc.property(hostile, (raw) => {
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
  const group = fc.constantFrom("0", "00", "0000", "7", "0a", "FFff", "1234");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV4(),
        fc.ipV6(),
        fc.array(group, { minLength: 8, maxLength: 8 }).map((all) => all.join(":")),
      ),
      (text) => {
        const canonical = canonicalAddress(text);
        expect(canonicalAddress(canonical)).toBe(canonical);
        expect(canonicalAddress(text.toUpperCase())).toBe(canonical);
        expect(
          expectedRotation([sliceWith({}, { addresses: [text] })], { ...WEB_0, addresses: [canonical] }).state,
        ).toBe("in");
      },
    ),
  );
});

function summaryOf({ state, terminating, services: offers }: EndpointState) {
  return {
    state,
    terminating,
    offers: Object.fromEntries(offers.map((each) => [`${each.service}/${each.family}`, each.state])),
  };
}

function renamed(raw: RawSlice, suffix: string): RawSlice {
  const metadata = raw["metadata"] as RawSlice;
  return { ...raw, metadata: { ...metadata, name: `${metadata["name"]}-${suffix}` } };
}

function mentionsPod(raw: RawSlice): boolean {
  return JSON.stringify(raw).includes(`"${WEB_0.uid}"`);
}
