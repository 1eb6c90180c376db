/** Tests single failures of the webhook's CAs, and their repair. */
import { describe, expect, test } from "vitest";
import { DROPPED_SUFFIX, startCluster, stateOf } from "./cluster-state.ts";
import { createFakeCa } from "./fake-certificates.ts";
import {
  createCluster,
  DAY_MS,
  HOUR_MS,
  isReady,
  LIFETIMES,
  MINUTE_MS,
  untrustedReadyReplicas,
} from "./simulated-cluster.ts";

describe("at the startup of the webhook's replicas", () => {
  test("three simultaneous replicas agree on one CA and are ready without waiting for the settle time", async () => {
    const cluster = createCluster(3);
    const reconciliations = cluster.replicas.map((replica) => cluster.startReconcile(replica));
    await Promise.all(reconciliations);
    // The API calls of the replicas alternate.
    for (let index = 0; cluster.pendingCallCount() > 0; index += 1) await cluster.endCall(index, "completed");
    for (const replica of cluster.replicas) await cluster.reconcile(replica);
    const { signer, bundles } = stateOf(cluster);
    expect(bundles).toEqual([[signer], [signer]]);
    expect(new Set(cluster.replicas.map((replica) => replica.reconciler.leaf()?.cert)).size).toBe(1);
    expect(cluster.replicas.every((replica) => isReady(cluster, replica))).toBe(true);
    const recordedEvents = cluster.replicas
      .flatMap((replica) => replica.events)
      .filter((event) => event.kind === "secret-written");
    expect(recordedEvents.map((event) => event.reason).sort()).toEqual(["begin", "promote"]);
  });

  test("a replica without a webhook configuration does not create a CA, and reports the missing object", async () => {
    const cluster = createCluster(1);
    cluster.store.setBundles(undefined);
    const [replica] = cluster.replicas;
    if (replica === undefined) return;
    const failure = replica.reconciler.reconcile().then(() => "", String);
    await cluster.endCall(0, "completed");
    expect(await failure).toContain("MutatingWebhookConfiguration w does not exist");
    expect(cluster.store.secret()).toBeUndefined();
  });

  test("a restarted replica is ready after one reconciliation, and does not write to the API server", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const writeCount = cluster.store.writeCount();
    const [first] = cluster.replicas;
    if (first === undefined) return;
    await cluster.crash(first);
    await reconcileAll();
    expect(isReady(cluster, first)).toBe(true);
    expect(cluster.store.writeCount()).toBe(writeCount);
  });
});

describe("a rotation of the CA", () => {
  test("adds the next CA to the caBundles, waits for the duration of --ca-settle, and then signs with the next CA", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const oldSigner = stateOf(cluster).signer;
    cluster.advance(201 * DAY_MS);
    await reconcileAll();
    const { next } = stateOf(cluster);
    expect(stateOf(cluster)).toMatchObject({
      signer: oldSigner,
      bundles: [
        [oldSigner, next],
        [oldSigner, next],
      ],
    });
    cluster.advance(LIFETIMES.settleMs - 1_000);
    await reconcileAll();
    expect(stateOf(cluster).signer).toBe(oldSigner);
    expect(stateOf(cluster).leaves).toEqual([oldSigner, oldSigner]);
    cluster.advance(1_000);
    await reconcileAll();
    await reconcileAll();
    expect(stateOf(cluster)).toMatchObject({ signer: next, next: "", leaves: [next, next], retired: [oldSigner] });
  });

  test("removes the old CA from the caBundles one hour after the last leaf certificate of that CA has expired", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const old = stateOf(cluster).signer;
    cluster.advance(201 * DAY_MS);
    await reconcileAll();
    cluster.advance(LIFETIMES.settleMs);
    await reconcileAll();
    cluster.advance(7 * DAY_MS);
    await reconcileAll();
    expect(stateOf(cluster).bundles[0]).toContain(old);
    cluster.advance(DAY_MS);
    await reconcileAll();
    expect(stateOf(cluster).bundles[0]).toContain(old);
    cluster.advance(HOUR_MS);
    await reconcileAll();
    expect(stateOf(cluster).bundles[0]).not.toContain(old);
    expect(stateOf(cluster).retired).toEqual([`${old}${DROPPED_SUFFIX}`]);
  });

  test("renews leaf certificates at two thirds of their validity under the same CA", async () => {
    const { cluster, reconcileAll } = await startCluster(1);
    const [replica] = cluster.replicas;
    const firstValidUntilMs = replica?.reconciler.leaf()?.validUntilMs ?? 0;
    cluster.advance(4 * DAY_MS);
    await reconcileAll();
    expect(replica?.reconciler.leaf()?.validUntilMs).toBe(firstValidUntilMs);
    cluster.advance(DAY_MS);
    await reconcileAll();
    expect(replica?.reconciler.leaf()?.validUntilMs).toBe(firstValidUntilMs + 5 * DAY_MS);
  });

  test("creates a new CA if the CA expired while no replica ran", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const old = stateOf(cluster).signer;
    cluster.advance(400 * DAY_MS);
    await reconcileAll();
    cluster.advance(LIFETIMES.settleMs);
    await reconcileAll();
    await reconcileAll();
    const { signer, leaves } = stateOf(cluster);
    expect(signer).not.toBe(old);
    expect(leaves).toEqual([signer, signer]);
    expect(cluster.replicas.every((replica) => isReady(cluster, replica))).toBe(true);
  });
});

describe("the served certificate stays trusted and a new CA replaces the old CA if the Secret is", () => {
  const manualCa = createFakeCa("by hand", 0, DAY_MS * 40_000);
  const otherCa = createFakeCa("other", 0, DAY_MS * 40_000);
  type Data = Readonly<Record<string, string>>;
  test.for<{ title: string; edit: (data: Data) => Data | undefined }>([
    { title: "deleted", edit: () => undefined },
    { title: "emptied", edit: () => ({}) },
    { title: "without its key", edit: ({ "ca.key": _key, ...data }) => data },
    { title: "without its certificate", edit: ({ "ca.crt": _cert, ...data }) => data },
    { title: "with the key of another certificate", edit: (data) => ({ ...data, "ca.key": otherCa.key }) },
    { title: "with invalid text as its certificate", edit: (data) => ({ ...data, "ca.crt": "garbage" }) },
    {
      title: "edited by hand to another CA",
      edit: (data) => ({ ...data, "ca.crt": manualCa.cert, "ca.key": manualCa.key }),
    },
  ])("$title", async ({ edit }) => {
    const { cluster, reconcileAll } = await startCluster(2);
    const old = stateOf(cluster).signer;
    cluster.store.setSecret(edit(cluster.store.secret()?.data ?? {}));
    await reconcileAll();
    const { next } = stateOf(cluster);
    expect(stateOf(cluster)).toMatchObject({
      leaves: [old, old],
      retired: [old],
      bundles: [
        [next, old],
        [next, old],
      ],
    });
    expect(untrustedReadyReplicas(cluster)).toEqual([]);
    cluster.advance(LIFETIMES.settleMs);
    await reconcileAll();
    await reconcileAll();
    expect(stateOf(cluster)).toMatchObject({ signer: next, leaves: [next, next] });
    expect(untrustedReadyReplicas(cluster)).toEqual([]);
  });

  test("restored to an earlier CA, which signs only after --ca-settle even though the caBundles still contain it", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const backup = cluster.store.secret()?.data ?? {};
    const first = stateOf(cluster).signer;
    cluster.store.setSecret(undefined);
    await reconcileAll();
    cluster.advance(LIFETIMES.settleMs);
    await reconcileAll();
    await reconcileAll();
    const secondSigner = stateOf(cluster).signer;
    cluster.store.setSecret(backup);
    await reconcileAll();
    expect(stateOf(cluster)).toMatchObject({
      signer: first,
      retired: [secondSigner],
      leaves: [secondSigner, secondSigner],
    });
    cluster.advance(LIFETIMES.settleMs);
    await reconcileAll();
    expect(stateOf(cluster).leaves).toEqual([first, first]);
    expect(untrustedReadyReplicas(cluster)).toEqual([]);
  });

  test("edited by another client, and unknown entries stay in the Secret", async () => {
    const { cluster, reconcileAll } = await startCluster(1);
    cluster.store.setSecret({ "relay.json": "{}", ...cluster.store.secret()?.data, "ca.key": "garbage" });
    await reconcileAll();
    expect(cluster.store.secret()?.data["relay.json"]).toBe("{}");
  });
});

describe("the caBundles of all webhooks", () => {
  const foreignCertificate = createFakeCa("foreign", 0, DAY_MS * 40_000).cert.replace("ey", "xx");
  test.for<{ title: string; edit: (bundles: readonly string[]) => readonly string[] }>([
    { title: "all of them are emptied", edit: (bundles) => bundles.map(() => "") },
    { title: "one of them is emptied", edit: ([first = ""]) => [first, ""] },
    { title: "a webhook is added", edit: (bundles) => [...bundles, ""] },
    { title: "an unknown CA is added", edit: (bundles) => bundles.map((bundle) => bundle + foreignCertificate) },
    { title: "all of them are replaced by an unknown CA", edit: (bundles) => bundles.map(() => foreignCertificate) },
    { title: "all of them are replaced by invalid text", edit: (bundles) => bundles.map(() => "garbage") },
  ])("are repaired by any replica if $title", async ({ edit }) => {
    const { cluster, reconcileAll } = await startCluster(2);
    const { signer, bundles } = stateOf(cluster);
    const writes = cluster.store.writeCount();
    cluster.store.setBundles(edit(cluster.store.configuration()?.bundles ?? []));
    await reconcileAll();
    expect(new Set(stateOf(cluster).bundles.flat())).toEqual(new Set(bundles.flat()));
    expect(stateOf(cluster)).toMatchObject({ signer, next: "" });
    expect(cluster.store.writeCount()).toBe(writes + 1);
  });

  test("are not written if they contain the desired CAs in another order", async () => {
    const { cluster, reconcileAll } = await startCluster(1);
    cluster.advance(201 * DAY_MS);
    await reconcileAll();
    const reversedBundles = (cluster.store.configuration()?.bundles ?? []).map((bundle) =>
      bundle
        .split(/(?<=-----END CERTIFICATE-----\n)/)
        .reverse()
        .join(""),
    );
    expect(reversedBundles[0]).not.toBe(cluster.store.configuration()?.bundles[0]);
    cluster.store.setBundles(reversedBundles);
    const writes = cluster.store.writeCount();
    await reconcileAll();
    expect(cluster.store.writeCount()).toBe(writes);
  });
});

describe("the reconciler", () => {
  test("reads the webhook configuration before the Secret, so the Secret is never older than the caBundles", async () => {
    const { cluster } = await startCluster(1);
    const [replica] = cluster.replicas;
    if (replica === undefined) return;
    await cluster.crash(replica);
    await cluster.startReconcile(replica);
    await cluster.endCall(0, "completed");
    cluster.store.setSecret(undefined);
    await cluster.endCall(0, "completed");
    expect(replica.reconciler.leaf()).toBeUndefined();
  });

  test("does not sign with a CA that is missing in one webhook's caBundle", async () => {
    const { cluster } = await startCluster(1);
    const [replica] = cluster.replicas;
    if (replica === undefined) return;
    await cluster.crash(replica);
    cluster.store.setBundles([cluster.store.configuration()?.bundles[0] ?? "", ""]);
    await cluster.startReconcile(replica);
    await cluster.endCall(0, "completed");
    await cluster.endCall(0, "completed");
    expect(replica.reconciler.leaf()).toBeUndefined();
    await cluster.endCall(0, "response lost");
    expect(isReady(cluster, replica)).toBe(false);
    await cluster.reconcile(replica);
    expect(isReady(cluster, replica)).toBe(true);
  });
});

describe("with a wrong clock or during an outage", () => {
  test("a CA of a replica whose clock is ahead is valid for the other replicas", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const [ahead] = cluster.replicas;
    if (ahead === undefined) return;
    ahead.clockOffsetMs = 250 * DAY_MS;
    await reconcileAll();
    const { next } = stateOf(cluster);
    cluster.advance(LIFETIMES.settleMs);
    await reconcileAll();
    await reconcileAll();
    expect(stateOf(cluster)).toMatchObject({ signer: next, next: "", leaves: [next, next] });
  });

  test("a replica's clock that jumps ahead by a month causes one renewal of the replica's leaf certificate", async () => {
    const { cluster, reconcileAll } = await startCluster(2);
    const [replica] = cluster.replicas;
    if (replica === undefined) return;
    replica.clockOffsetMs = 30 * DAY_MS;
    await reconcileAll();
    const leaf = replica.reconciler.leaf();
    await reconcileAll();
    expect(replica.reconciler.leaf()).toBe(leaf);
    replica.clockOffsetMs = 0;
    await reconcileAll();
    expect(replica.reconciler.leaf()?.validUntilMs).toBe(cluster.nowMs() + LIFETIMES.leafLifeMs);
  });

  test("an unreachable API server does not change the served certificate", async () => {
    const { cluster } = await startCluster(1);
    const [replica] = cluster.replicas;
    if (replica === undefined) return;
    const leaf = replica.reconciler.leaf();
    await cluster.startReconcile(replica);
    await cluster.endCall(0, "request lost");
    cluster.advance(6 * MINUTE_MS);
    expect(replica.reconciler.leaf()).toBe(leaf);
    expect(isReady(cluster, replica)).toBe(true);
  });

  test("a repeatedly deleted Secret does not make the caBundle grow without limit", async () => {
    const { cluster, reconcileAll } = await startCluster(1);
    for (let round = 0; round < 60; round += 1) {
      cluster.store.setSecret(undefined);
      await reconcileAll();
      cluster.advance(LIFETIMES.settleMs);
      await reconcileAll();
    }
    expect(stateOf(cluster).bundles[0]?.length).toBeLessThanOrEqual(26);
    expect(untrustedReadyReplicas(cluster)).toEqual([]);
  });
});
