import fc from "fast-check";
import { expect, test } from "vitest";
import type { DrainReport, ResetsReport } from "../../../src/contract/drain-report.ts";
import { DRAINS_PATH } from "../../../src/contract/relay-wire.ts";
import { eventFor } from "../../../src/relay/drains/drains-route.ts";
import { anyDrain } from "../../drain-history/any-drain.ts";
import { runningReport, someDrain, someReport } from "../../drain-history/some-drain.ts";
import { AUTHORIZATION, CLAIMS, createDrainsServer } from "./drains-server.ts";

test.for([
  { outcome: "drained", type: "Normal", reason: "Drained" },
  { outcome: "handed-over", type: "Normal", reason: "DrainHandedOver" },
  { outcome: "timeout", type: "Warning", reason: "DrainTimeout" },
  { outcome: "forced", type: "Warning", reason: "DrainForced" },
  { outcome: "blind", type: "Warning", reason: "DrainBlind" },
  { outcome: "lost", type: "Warning", reason: "DrainLost" },
] as const)(
  "the relay records an Event of type $type with the reason $reason on the Pod's owner after the outcome $outcome",
  ({ outcome, type, reason }) => {
    const event = eventFor(someDrain({ report: { ...someReport(), outcome } }), CLAIMS);
    expect(event).toMatchObject({ namespace: "shop", type, reason });
    expect(event?.owner).toEqual({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "owner-1" });
    expect(event?.message).toContain("Pod web-7d9f-abcde");
  },
);

test("the relay records an Event on the Pod, once, while its drain runs", async () => {
  const reportedUids: string[] = [];
  const server = createDrainsServer({ onReport: ({ uid }) => reportedUids.push(uid) });
  await server.app.ready();
  const post = (report: DrainReport) =>
    server.app.inject({
      method: "POST",
      url: DRAINS_PATH,
      headers: { authorization: AUTHORIZATION },
      payload: JSON.stringify({ namespace: "shop", pod: "web-1", uid: "u-1", report }),
    });
  for (const remainingMs of [55_000, 35_000]) await post(runningReport({ remainingMs }));
  expect(server.recordedEvents).toEqual([
    {
      namespace: "shop",
      owner: { apiVersion: "v1", kind: "Pod", name: "web-1", uid: "u-1" },
      type: "Normal",
      reason: "Draining",
      message: expect.stringMatching(
        /^Pod web-1 is still draining 10s after the trigger .+ 10\.0\.0\.9:41822 to port 8080/,
      ),
    },
  ]);
  // The manager of a running drain can still be killed. Its report therefore neither ends the search for the lost drain of this
  // Pod nor increases a counter of ended drains.
  expect([reportedUids, await server.readMetric('lastcall_drains_total{outcome="drained"}')]).toEqual([
    [],
    expect.stringMatching(/ 0$/),
  ]);
  await post(someReport());
  expect(server.recordedEvents.map(({ reason }) => reason)).toEqual(["Draining", "Drained"]);
  expect([reportedUids, await server.readMetric('lastcall_drains_total{outcome="drained"}')]).toEqual([
    ["u-1"],
    expect.stringMatching(/ 1$/),
  ]);
});

test("the relay records an Event on the Pod's owner only if the Pod's stop reset connections", async () => {
  const server = createDrainsServer();
  await server.app.ready();
  const post = (resets?: ResetsReport) =>
    server.app.inject({
      method: "POST",
      url: DRAINS_PATH,
      headers: { authorization: AUTHORIZATION },
      payload: JSON.stringify({ namespace: "shop", pod: "web-1", uid: "u-1", report: someReport({ resets }) }),
    });
  await post();
  await post({ draining: 3, stopping: 0, probes: 0, stoppingMs: 900 });
  expect(server.recordedEvents.map(({ reason }) => reason)).toEqual(["Drained"]);
  await post({ draining: 3, stopping: 2, probes: 1, stoppingMs: 900 });
  expect(server.recordedEvents.slice(1)).toEqual([
    {
      namespace: "shop",
      owner: expect.objectContaining({ kind: "ReplicaSet", name: "web-7d9f" }),
      type: "Normal",
      reason: "ConnectionsReset",
      message:
        "When Pod web-1 stopped, it cut or refused at most 2 connections, of which 1 may be a probe of the kubelet.",
    },
  ]);
});

test.for(["not-needed", "restarted"] as const)(
  "the relay does not record an Event for a drain with the outcome %s",
  (outcome) => {
    expect(eventFor(someDrain({ report: someReport({ outcome }) }), CLAIMS)).toBeUndefined();
  },
);

test("the owner in the Event of a drain is from the credential, not from the report", () => {
  const event = eventFor(someDrain({ namespace: "kube-system", ownerKind: "Node", ownerName: "evil" }), CLAIMS);
  expect(event?.namespace).toBe("shop");
  expect(event?.owner.name).toBe("web-7d9f");
});

test.for([
  { title: "without an owner", claims: { ownerKind: "", ownerName: "", ownerUid: "" } },
  { title: "with a Node as owner", claims: { ownerKind: "Node" } },
  { title: "with a path as the owner's name", claims: { ownerName: "../../secrets" } },
  { title: "with a quote in the owner's uid", claims: { ownerUid: 'u"v' } },
])("the relay does not record an Event for a credential $title", ({ claims }) => {
  expect(eventFor(someDrain(), { ...CLAIMS, ...claims })).toBeUndefined();
});

test("the Event for an owner of an unknown kind does not have an apiVersion", () => {
  expect(eventFor(someDrain(), { ...CLAIMS, ownerKind: "CloneSet" })?.owner.apiVersion).toBe("");
});

test("the Event message of any drain is printable and within the API server's limit", () => {
  fc.assert(
    fc.property(anyDrain, (record) => {
      const event = eventFor(record, CLAIMS);
      if (event !== undefined) expect(event.message).toMatch(/^[\x20-\x7e]{1,1000}$/);
    }),
  );
});
