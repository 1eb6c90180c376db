/** The authority's failures and recoveries, one by one. */
import { describe, expect, test } from "vitest";
import { RETIRED, startedWorld, stateOf } from "./cluster-state.ts";
import { fakeCa } from "./fake-certificates.ts";
import { brokenPromises, createWorld, DAY_MS, HOUR_MS, isReady, LIVES, MINUTE_MS } from "./simulated-cluster.ts";

describe("at startup of the webhook's replicas", () => {
  test("three simultaneous replicas agree on one CA and are ready at once", async () => {
    const world = createWorld(3);
    const running = world.replicas.map((replica) => world.startReconcile(replica));
    await Promise.all(running);
    // The calls of the replicas alternate.
    for (let index = 0; world.pendingCalls() > 0; index += 1) await world.endCall(index, "answered");
    for (const replica of world.replicas) await world.reconcile(replica);
    const { signer, bundles } = stateOf(world);
    expect(bundles).toEqual([[signer], [signer]]);
    expect(new Set(world.replicas.map((replica) => replica.reconciler.leaf()?.cert)).size).toBe(1);
    expect(world.replicas.every((replica) => isReady(world, replica))).toBe(true);
    const made = world.replicas.flatMap((replica) => replica.events).filter((event) => event.kind === "secret-written");
    expect(made.map((event) => event.reason).sort()).toEqual(["begin", "promote"]);
  });

  test("a replica without a webhook configuration makes no CA and reports the missing object", async () => {
    const world = createWorld(1);
    world.store.setBundles(undefined);
    const [replica] = world.replicas;
    if (replica === undefined) return;
    const failure = replica.reconciler.reconcile().then(() => "", String);
    await world.endCall(0, "answered");
    expect(await failure).toContain("MutatingWebhookConfiguration w does not exist");
    expect(world.store.secret()).toBeUndefined();
  });

  test("an additional replica serves at once and writes nothing", async () => {
    const { world, all } = await startedWorld(2);
    const writes = world.store.writes();
    const [first] = world.replicas;
    if (first === undefined) return;
    await world.crash(first);
    await all();
    expect(isReady(world, first)).toBe(true);
    expect(world.store.writes()).toBe(writes);
  });
});

describe("a rotation of the CA", () => {
  test("publishes the next CA beside the old one, waits, and only then signs with the next CA", async () => {
    const { world, all } = await startedWorld(2);
    const old = stateOf(world).signer;
    world.pass(201 * DAY_MS);
    await all();
    const { next } = stateOf(world);
    expect(stateOf(world)).toMatchObject({
      signer: old,
      bundles: [
        [old, next],
        [old, next],
      ],
    });
    world.pass(LIVES.settleMs - 1_000);
    await all();
    expect(stateOf(world).signer).toBe(old);
    expect(stateOf(world).leaves).toEqual([old, old]);
    world.pass(1_000);
    await all();
    await all();
    expect(stateOf(world)).toMatchObject({ signer: next, next: "", leaves: [next, next], retired: [old] });
  });

  test("drops the old CA one hour after the CA's last leaf certificate has expired", async () => {
    const { world, all } = await startedWorld(2);
    const old = stateOf(world).signer;
    world.pass(201 * DAY_MS);
    await all();
    world.pass(LIVES.settleMs);
    await all();
    world.pass(7 * DAY_MS);
    await all();
    expect(stateOf(world).bundles[0]).toContain(old);
    world.pass(DAY_MS);
    await all();
    expect(stateOf(world).bundles[0]).toContain(old);
    world.pass(HOUR_MS);
    await all();
    expect(stateOf(world).bundles[0]).not.toContain(old);
    expect(stateOf(world).retired).toEqual([`${old}${RETIRED}`]);
  });

  test("renews leaf certificates at two thirds of their validity under the same CA", async () => {
    const { world, all } = await startedWorld(1);
    const [replica] = world.replicas;
    const first = replica?.reconciler.leaf()?.validUntilMs ?? 0;
    world.pass(4 * DAY_MS);
    await all();
    expect(replica?.reconciler.leaf()?.validUntilMs).toBe(first);
    world.pass(DAY_MS);
    await all();
    expect(replica?.reconciler.leaf()?.validUntilMs).toBe(first + 5 * DAY_MS);
  });

  test("starts again if the CA expired while no replica ran", async () => {
    const { world, all } = await startedWorld(2);
    const old = stateOf(world).signer;
    world.pass(400 * DAY_MS);
    await all();
    world.pass(LIVES.settleMs);
    await all();
    await all();
    const { signer, leaves } = stateOf(world);
    expect(signer).not.toBe(old);
    expect(leaves).toEqual([signer, signer]);
    expect(world.replicas.every((replica) => isReady(world, replica))).toBe(true);
  });
});

describe("the served certificate stays trusted and a new CA replaces the old one if the Secret is", () => {
  const byHand = fakeCa("by hand", 0, DAY_MS * 40_000);
  const half = fakeCa("half", 0, DAY_MS * 40_000);
  type Data = Readonly<Record<string, string>>;
  test.for<{ title: string; edit: (data: Data) => Data | undefined }>([
    { title: "deleted", edit: () => undefined },
    { title: "emptied", edit: () => ({}) },
    { title: "without its key", edit: ({ "ca.key": _key, ...data }) => data },
    { title: "without its certificate", edit: ({ "ca.crt": _cert, ...data }) => data },
    { title: "with the key of another certificate", edit: (data) => ({ ...data, "ca.key": half.key }) },
    { title: "with garbage for a certificate", edit: (data) => ({ ...data, "ca.crt": "garbage" }) },
    {
      title: "given another CA by hand",
      edit: (data) => ({ ...data, "ca.crt": byHand.cert, "ca.key": byHand.key }),
    },
  ])("$title", async ({ edit }) => {
    const { world, all } = await startedWorld(2);
    const old = stateOf(world).signer;
    world.store.setSecret(edit(world.store.secret()?.data ?? {}));
    await all();
    const { next } = stateOf(world);
    expect(stateOf(world)).toMatchObject({
      leaves: [old, old],
      retired: [old],
      bundles: [
        [next, old],
        [next, old],
      ],
    });
    expect(brokenPromises(world)).toEqual([]);
    world.pass(LIVES.settleMs);
    await all();
    await all();
    expect(stateOf(world)).toMatchObject({ signer: next, leaves: [next, next] });
    expect(brokenPromises(world)).toEqual([]);
  });

  test("restored to an earlier CA: the switch waits even though that CA is still trusted", async () => {
    const { world, all } = await startedWorld(2);
    const backup = world.store.secret()?.data ?? {};
    const first = stateOf(world).signer;
    world.store.setSecret(undefined);
    await all();
    world.pass(LIVES.settleMs);
    await all();
    await all();
    const second = stateOf(world).signer;
    world.store.setSecret(backup);
    await all();
    expect(stateOf(world)).toMatchObject({ signer: first, retired: [second], leaves: [second, second] });
    world.pass(LIVES.settleMs);
    await all();
    expect(stateOf(world).leaves).toEqual([first, first]);
    expect(brokenPromises(world)).toEqual([]);
  });

  test("edited by another client: unknown entries stay", async () => {
    const { world, all } = await startedWorld(1);
    world.store.setSecret({ "relay.json": "{}", ...world.store.secret()?.data, "ca.key": "garbage" });
    await all();
    expect(world.store.secret()?.data["relay.json"]).toBe("{}");
  });
});

describe("any replica repairs the caBundles of all webhooks:", () => {
  const foreign = fakeCa("foreign", 0, DAY_MS * 40_000).cert.replace("ey", "xx");
  test.for<{ title: string; edit: (bundles: readonly string[]) => readonly string[] }>([
    { title: "every caBundle emptied", edit: (bundles) => bundles.map(() => "") },
    { title: "one caBundle emptied", edit: ([first = ""]) => [first, ""] },
    { title: "a webhook added", edit: (bundles) => [...bundles, ""] },
    { title: "a foreign CA added", edit: (bundles) => bundles.map((bundle) => bundle + foreign) },
    { title: "every caBundle replaced by a foreign CA", edit: (bundles) => bundles.map(() => foreign) },
    { title: "every caBundle replaced by garbage", edit: (bundles) => bundles.map(() => "garbage") },
  ])("$title", async ({ edit }) => {
    const { world, all } = await startedWorld(2);
    const { signer, bundles } = stateOf(world);
    const writes = world.store.writes();
    world.store.setBundles(edit(world.store.configuration()?.bundles ?? []));
    await all();
    expect(new Set(stateOf(world).bundles.flat())).toEqual(new Set(bundles.flat()));
    expect(stateOf(world)).toMatchObject({ signer, next: "" });
    expect(world.store.writes()).toBe(writes + 1);
  });

  test("a caBundle with the right CAs in another order is not written", async () => {
    const { world, all } = await startedWorld(1);
    world.pass(201 * DAY_MS);
    await all();
    const reversed = (world.store.configuration()?.bundles ?? []).map((bundle) =>
      bundle
        .split(/(?<=-----END CERTIFICATE-----\n)/)
        .reverse()
        .join(""),
    );
    expect(reversed[0]).not.toBe(world.store.configuration()?.bundles[0]);
    world.store.setBundles(reversed);
    const writes = world.store.writes();
    await all();
    expect(world.store.writes()).toBe(writes);
  });
});

describe("the reconciler", () => {
  test("reads the webhook configuration first, so that the Secret is never older than the caBundles", async () => {
    const { world } = await startedWorld(1);
    const [replica] = world.replicas;
    if (replica === undefined) return;
    await world.crash(replica);
    await world.startReconcile(replica);
    await world.endCall(0, "answered");
    world.store.setSecret(undefined);
    await world.endCall(0, "answered");
    expect(replica.reconciler.leaf()).toBeUndefined();
  });

  test("delays the switch to a CA that is missing in one webhook's caBundle", async () => {
    const { world } = await startedWorld(1);
    const [replica] = world.replicas;
    if (replica === undefined) return;
    await world.crash(replica);
    world.store.setBundles([world.store.configuration()?.bundles[0] ?? "", ""]);
    await world.startReconcile(replica);
    await world.endCall(0, "answered");
    await world.endCall(0, "answered");
    expect(replica.reconciler.leaf()).toBeUndefined();
    await world.endCall(0, "answer lost");
    expect(isReady(world, replica)).toBe(false);
    await world.reconcile(replica);
    expect(isReady(world, replica)).toBe(true);
  });
});

describe("with a wrong clock or during an outage", () => {
  test("a CA of a replica whose clock is ahead is valid for the other replicas", async () => {
    const { world, all } = await startedWorld(2);
    const [ahead] = world.replicas;
    if (ahead === undefined) return;
    ahead.clockOffsetMs = 250 * DAY_MS;
    await all();
    const { next } = stateOf(world);
    world.pass(LIVES.settleMs);
    await all();
    await all();
    expect(stateOf(world)).toMatchObject({ signer: next, next: "", leaves: [next, next] });
  });

  test("a clock that jumps a month ahead causes a single renewal", async () => {
    const { world, all } = await startedWorld(2);
    const [replica] = world.replicas;
    if (replica === undefined) return;
    replica.clockOffsetMs = 30 * DAY_MS;
    await all();
    const leaf = replica.reconciler.leaf();
    await all();
    expect(replica.reconciler.leaf()).toBe(leaf);
    replica.clockOffsetMs = 0;
    await all();
    expect(replica.reconciler.leaf()?.validUntilMs).toBe(world.nowMs() + LIVES.leafLifeMs);
  });

  test("an unreachable API server does not change the served certificate", async () => {
    const { world } = await startedWorld(1);
    const [replica] = world.replicas;
    if (replica === undefined) return;
    const leaf = replica.reconciler.leaf();
    await world.startReconcile(replica);
    await world.endCall(0, "never arrives");
    world.pass(6 * MINUTE_MS);
    expect(replica.reconciler.leaf()).toBe(leaf);
    expect(isReady(world, replica)).toBe(true);
  });

  test("a repeatedly deleted Secret does not make the caBundle grow without limit", async () => {
    const { world, all } = await startedWorld(1);
    for (let round = 0; round < 60; round += 1) {
      world.store.setSecret(undefined);
      await all();
      world.pass(LIVES.settleMs);
      await all();
    }
    expect(stateOf(world).bundles[0]?.length).toBeLessThanOrEqual(26);
    expect(brokenPromises(world)).toEqual([]);
  });
});
