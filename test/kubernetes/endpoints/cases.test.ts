/** Tests a Pod's endpoint state in situations from real clusters. */
import { describe, expect, test } from "vitest";
import type { PodIdentity } from "../../../src/kubernetes/endpoints/slice.ts";
import {
  endpointStateIn,
  entryOf,
  MIRRORING,
  type RawSlice,
  READY_CONDITIONS,
  sliceWith,
  TERMINATING_CONDITIONS,
  WEB_0,
} from "./raw-slices.ts";

const WEB_1: PodIdentity = { name: "web-1", uid: "uid-of-web-1", addresses: ["10.0.0.8", "fd00::8"] };

describe("a Pod of a Service with a selector", () => {
  test("has the endpoint state `in` while its endpoint is ready", () => {
    expect(endpointStateIn([sliceWith({}, entryOf(WEB_1), entryOf(WEB_0))])).toEqual({
      state: "in",
      terminating: false,
      services: [
        {
          service: "web",
          family: "IPv4",
          state: "in",
          terminating: false,
          reason: "Service web still has the Pod as a ready endpoint (slice web-abc)",
        },
      ],
      reason: "Service web still has the Pod as a ready endpoint (slice web-abc)",
    });
  });

  test("has the endpoint state `out` and is terminating after the controller has processed the deletion", () => {
    expect(endpointStateIn([sliceWith({}, entryOf(WEB_0, TERMINATING_CONDITIONS))])).toMatchObject({
      state: "out",
      terminating: true,
      reason: "Service web has the Pod as a terminating endpoint (slice web-abc)",
    });
  });

  test("has the endpoint state `out` and is not terminating if the kubelet stops the Pod without a deletion", () => {
    const stoppedConditions = { ready: false, serving: false, terminating: false };
    expect(endpointStateIn([sliceWith({}, entryOf(WEB_0, stoppedConditions))])).toMatchObject({
      state: "out",
      terminating: false,
      reason: "Service web has the Pod as an endpoint that is not ready (slice web-abc)",
    });
  });

  test("has the endpoint state `out` while its endpoint is terminating and serving", () => {
    expect(
      endpointStateIn([sliceWith({}, entryOf(WEB_0, { ready: false, serving: true, terminating: true }))]).state,
    ).toBe("out");
  });

  test("has the endpoint state `out` if no EndpointSlice contains the Pod", () => {
    for (const raws of [[], [sliceWith({}, entryOf(WEB_1))]]) {
      expect(endpointStateIn(raws)).toEqual({
        state: "out",
        terminating: false,
        services: [],
        reason: "no Service has the Pod as an endpoint",
      });
    }
  });

  test("is identified in EndpointSlices by its uid, with any address", () => {
    expect(endpointStateIn([sliceWith({}, entryOf(WEB_0, READY_CONDITIONS, "10.9.9.9"))]).state).toBe("in");
    expect(endpointStateIn([sliceWith({}, entryOf(WEB_0))], { ...WEB_0, addresses: [] }).state).toBe("in");
  });
});

describe("publishNotReadyAddresses", () => {
  test("gives an unready Pod the endpoint state `in` until the deletion", () => {
    expect(
      endpointStateIn([sliceWith({}, entryOf(WEB_0, { ready: true, serving: false, terminating: false }))]).state,
    ).toBe("in");
  });

  test("gives a terminating Pod the endpoint state `out`, although its endpoint is ready until the Pod is removed", () => {
    expect(
      endpointStateIn([sliceWith({}, entryOf(WEB_0, { ready: true, serving: true, terminating: true }))]),
    ).toMatchObject({
      state: "out",
      terminating: true,
      reason: "Service web publishes the Pod as ready until the Pod is removed (slice web-abc)",
    });
  });
});

test.for<[string, RawSlice, string, boolean]>([
  ["no conditions", {}, "in", false],
  ["conditions that are null", { conditions: null }, "in", false],
  ["empty conditions", { conditions: {} }, "in", false],
  ["ready null", { conditions: { ready: null, terminating: false } }, "in", false],
  ["ready nil and terminating", { conditions: { terminating: true } }, "out", true],
  ["only ready false", { conditions: { ready: false } }, "out", false],
  ["ready as a string", { conditions: { ready: "false" } }, "in", false],
  ["terminating as a number", { conditions: { terminating: 1 } }, "in", false],
])("an endpoint with %s is evaluated as the API documents it", ([, parts, state, terminating]) => {
  const { conditions: _replaced, ...entry } = entryOf(WEB_0);
  expect(endpointStateIn([sliceWith({}, { ...entry, ...parts })])).toMatchObject({ state, terminating });
});

describe("several EndpointSlices", () => {
  test("of one Service give the endpoint state `in` while one of them has the Pod as a ready endpoint", () => {
    const slices = [
      sliceWith({ name: "web-b" }, entryOf(WEB_0, TERMINATING_CONDITIONS)),
      sliceWith({ name: "web-a" }, entryOf(WEB_1), entryOf(WEB_0)),
    ];
    expect(endpointStateIn(slices)).toMatchObject({
      state: "in",
      terminating: true,
      services: [{ state: "in", terminating: true }],
      reason: "Service web still has the Pod as a ready endpoint (slice web-a)",
    });
  });

  test("of two IP families count separately", () => {
    const slices = [
      sliceWith({ name: "web-v6", addressType: "IPv6" }, entryOf(WEB_0, READY_CONDITIONS, "fd00::7")),
      sliceWith({ name: "web-v4" }, entryOf(WEB_0, TERMINATING_CONDITIONS)),
    ];
    const endpointState = endpointStateIn(slices);
    expect(endpointState.services.map(({ family, state }) => `${family} ${state}`)).toEqual(["IPv4 out", "IPv6 in"]);
    expect(endpointState.state).toBe("in");
  });

  test("of two Services give the endpoint state `out` only if none has the Pod as a ready endpoint", () => {
    const slices = [
      sliceWith({ name: "web-a" }, entryOf(WEB_0, TERMINATING_CONDITIONS)),
      sliceWith({ name: "api-a", service: "api" }, entryOf(WEB_0)),
    ];
    expect(endpointStateIn(slices)).toMatchObject({
      state: "in",
      reason: "Service api still has the Pod as a ready endpoint (slice api-a)",
    });
    expect(endpointStateIn(slices.slice(0, 1)).state).toBe("out");
  });

  test("of several Services with the same state are counted in the reason", () => {
    const slices = ["a", "b", "c"].map((service) => sliceWith({ name: `${service}-1`, service }, entryOf(WEB_0)));
    expect(endpointStateIn(slices).reason).toBe(
      "Service a still has the Pod as a ready endpoint (slice a-1), and 2 more",
    );
  });

  test("without a Service are ignored", () => {
    for (const service of [undefined, ""]) {
      expect(endpointStateIn([sliceWith({ service }, entryOf(WEB_0, TERMINATING_CONDITIONS))])).toMatchObject({
        state: "out",
        terminating: false,
        services: [],
      });
    }
  });
});

describe("an address in an EndpointSlice", () => {
  const ENDPOINT_WITHOUT_TARGET = { addresses: ["10.0.0.7"], conditions: { ready: true } };

  test("identifies the Pod in mirrored and handwritten EndpointSlices, which have no uid", () => {
    expect(endpointStateIn([sliceWith({ managedBy: MIRRORING }, ENDPOINT_WITHOUT_TARGET)]).state).toBe("in");
    expect(endpointStateIn([sliceWith({ managedBy: "" }, { addresses: ["10.0.0.99", "10.0.0.7"] })]).state).toBe("in");
    expect(endpointStateIn([sliceWith({ managedBy: MIRRORING }, { addresses: ["10.0.0.8"] })]).services).toEqual([]);
  });

  test("in a handwritten EndpointSlice does not make a Pod terminating", () => {
    const handwrittenSlice = sliceWith(
      { managedBy: "people" },
      { ...ENDPOINT_WITHOUT_TARGET, conditions: { ready: true, terminating: true } },
    );
    expect(endpointStateIn([handwrittenSlice])).toMatchObject({ state: "out", terminating: false });
  });

  test("of another Pod's endpoint is ignored in managed and handwritten EndpointSlices", () => {
    for (const managedBy of [undefined, MIRRORING, "people"]) {
      const fields = managedBy === undefined ? {} : { managedBy };
      expect(endpointStateIn([sliceWith(fields, entryOf(WEB_1, READY_CONDITIONS, "10.0.0.7"))]).services).toEqual([]);
    }
  });

  test("identifies the Pod if the endpoint's targetRef is not a Pod", () => {
    const machine = {
      ...ENDPOINT_WITHOUT_TARGET,
      targetRef: { kind: "VirtualMachineInstance", name: "web-0", uid: "uid-of-a-machine" },
    };
    expect(endpointStateIn([sliceWith({ managedBy: "people" }, machine)]).state).toBe("in");
  });

  test.for([
    ["FD00::7", "IPv6"],
    ["fd00:0:0:0:0:0:0:7", "IPv6"],
    ["fd00:0000::0007", "IPv6"],
    ["fd00::0.0.0.7", "IPv6"],
    ["010.000.0.07", "IPv4"],
  ])("is compared in canonical form: %s", ([address, addressType]) => {
    const raw = sliceWith({ managedBy: "people", ...(addressType && { addressType }) }, { addresses: [address] });
    expect(endpointStateIn([raw]).state).toBe("in");
  });

  test.for([
    "fd00::70",
    "fd00::7/64",
    "[fd00::7]",
    "fd00::7%eth0",
    "x@fd00::7",
    "fd00::7]/[",
    "fd00::7]:80/",
    "10.0.0.70",
    "1.10.0.0.7",
    "10.0.0",
    "",
  ])("does not identify the Pod if it is %j", (address) => {
    expect(endpointStateIn([sliceWith({ managedBy: "people" }, { addresses: [address] })]).services).toEqual([]);
  });
});

describe("endpoints with host names", () => {
  const FQDN_SLICE = { addressType: "FQDN", managedBy: "people" };

  test("give the endpoint state `unknown`, because only DNS can resolve host names", () => {
    expect(endpointStateIn([sliceWith(FQDN_SLICE, entryOf(WEB_0, READY_CONDITIONS, "web.example"))])).toMatchObject({
      state: "unknown",
      reason: "Service web has the Pod as an endpoint with a host name (slice web-abc)",
    });
  });

  test("give the endpoint state `out` if they are terminating", () => {
    expect(endpointStateIn([sliceWith(FQDN_SLICE, entryOf(WEB_0, TERMINATING_CONDITIONS, "web.example"))]).state).toBe(
      "out",
    );
  });

  test("do not override a ready endpoint of the Pod", () => {
    const raws = [
      sliceWith(FQDN_SLICE, entryOf(WEB_0, READY_CONDITIONS, "web.example")),
      sliceWith({ name: "a" }, entryOf(WEB_0)),
    ];
    expect(endpointStateIn(raws)).toMatchObject({ state: "in", services: [{ state: "unknown" }, { state: "in" }] });
  });

  test("of other hosts are ignored", () => {
    expect(endpointStateIn([sliceWith(FQDN_SLICE, { addresses: ["elsewhere.example"] })]).services).toEqual([]);
  });
});

test("endpoints of an unknown address type are evaluated by the same conditions", () => {
  expect(endpointStateIn([sliceWith({ addressType: "Martian" }, entryOf(WEB_0))])).toMatchObject({
    state: "in",
    services: [{ family: "other" }],
  });
});

test("long printable names in reasons are truncated", () => {
  expect(endpointStateIn([sliceWith({ name: "x".repeat(5_000) }, entryOf(WEB_0))]).reason.length).toBeLessThan(600);
});

test("names in reasons are truncated, and unprintable characters are replaced", () => {
  const raw = sliceWith({ name: `a\u001b[31m\n${"x".repeat(5_000)}`, service: "web\u202e" }, entryOf(WEB_0));
  const { reason } = endpointStateIn([raw]);
  expect(reason).toMatch(/^Service web\? still has the Pod as a ready endpoint \(slice a\?\[31m\?x+\)$/);
  expect(reason.length).toBeLessThan(600);
});
