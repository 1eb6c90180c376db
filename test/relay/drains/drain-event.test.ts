import fc from "fast-check";
import { expect, test } from "vitest";
import { eventFor } from "../../../src/relay/drains/drains-route.ts";
import { anyDrain } from "../../drain-history/any-drain.ts";
import { someDrain, someReport } from "../../drain-history/some-drain.ts";
import { CLAIMS } from "./drains-server.ts";

test.for([
  { outcome: "drained", type: "Normal", reason: "Drained" },
  { outcome: "timeout", type: "Warning", reason: "DrainTimeout" },
  { outcome: "forced", type: "Warning", reason: "DrainForced" },
  { outcome: "blind", type: "Warning", reason: "DrainBlind" },
  { outcome: "lost", type: "Warning", reason: "DrainLost" },
] as const)("the owner hears of a Pod that ended as $outcome: $type $reason", ({ outcome, type, reason }) => {
  const note = eventFor(someDrain({ report: { ...someReport(), outcome } }), CLAIMS);
  expect(note).toMatchObject({ namespace: "shop", type, reason });
  expect(note?.owner).toEqual({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "owner-1" });
  expect(note?.message).toContain("Pod web-7d9f-abcde");
});

test.for(["not-needed", "restarted"] as const)("no one hears of a drain that was %s", (outcome) => {
  expect(eventFor(someDrain({ report: someReport({ outcome }) }), CLAIMS)).toBeUndefined();
});

test("the owner is the credential's, whatever the record says", () => {
  const note = eventFor(someDrain({ namespace: "kube-system", ownerKind: "Node", ownerName: "evil" }), CLAIMS);
  expect(note?.namespace).toBe("shop");
  expect(note?.owner.name).toBe("web-7d9f");
});

test.for([
  { says: "no owner", claims: { ownerKind: "", ownerName: "", ownerUid: "" } },
  { says: "a node", claims: { ownerKind: "Node" } },
  { says: "a path", claims: { ownerName: "../../secrets" } },
  { says: "a uid with a quote", claims: { ownerUid: 'u"v' } },
])("a credential that speaks for $says tells no one", ({ claims }) => {
  expect(eventFor(someDrain(), { ...CLAIMS, ...claims })).toBeUndefined();
});

test("an owner of a kind no one knows gets an Event without a version of the API", () => {
  expect(eventFor(someDrain(), { ...CLAIMS, ownerKind: "CloneSet" })?.owner.apiVersion).toBe("");
});

test("whatever a drain says, the message is one printable line the API server takes", () => {
  fc.assert(
    fc.property(anyDrain, (record) => {
      const note = eventFor(record, CLAIMS);
      if (note !== undefined) expect(note.message).toMatch(/^[\x20-\x7e]{1,1000}$/);
    }),
  );
});
