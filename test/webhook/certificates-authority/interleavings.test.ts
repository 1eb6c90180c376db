/** Tests random histories of several replicas with the oracle of `simulated-cluster.ts`. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { containsExactly } from "../../../src/authority/certificate.ts";
import { trustedCas } from "../../../src/webhook/certificates/authority.ts";
import { readContent } from "../../../src/webhook/certificates/secret-content.ts";
import { createFakeCa, createFakeTools } from "./fake-certificates.ts";
import {
  type CallOutcome,
  createCluster,
  DAY_MS,
  HOUR_MS,
  isReady,
  LIFETIMES,
  MINUTE_MS,
  type SimulatedCluster,
  untrustedReadyReplicas,
} from "./simulated-cluster.ts";

const TIMEOUT = { timeout: 240_000 };
const REPLICAS = 3;
const TOOLS = createFakeTools(() => "");

type Action =
  | { readonly do: "reconcile"; readonly replicaIndex: number }
  | { readonly do: "end call"; readonly callIndex: number; readonly outcome: CallOutcome }
  | { readonly do: "crash"; readonly replicaIndex: number }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "reconcile all"; readonly rounds: number; readonly ms: number; readonly replicaIndex: number }
  | { readonly do: "clock"; readonly replicaIndex: number; readonly offsetMs: number }
  | { readonly do: "back up" }
  | { readonly do: "edit secret"; readonly editIndex: number }
  | { readonly do: "edit bundles"; readonly editIndex: number };

const replicaIndex = fc.nat({ max: REPLICAS - 1 });
const outcome = fc.constantFrom<CallOutcome>(
  "completed",
  "completed",
  "completed",
  "completed",
  "request lost",
  "response lost",
);
const durations = fc.constantFrom(1_000, 5_000, 30_000, 61_000, 2 * HOUR_MS, DAY_MS, 8 * DAY_MS, 110 * DAY_MS);

const COMMON_ACTIONS: readonly fc.WeightedArbitrary<Action>[] = [
  { weight: 6, arbitrary: fc.record({ do: fc.constant("reconcile" as const), replicaIndex }) },
  {
    weight: 24,
    arbitrary: fc.record({ do: fc.constant("end call" as const), callIndex: fc.nat({ max: 9 }), outcome }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), replicaIndex }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: durations }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("reconcile all" as const),
      rounds: fc.integer({ min: 1, max: 3 }),
      ms: durations,
      replicaIndex,
    }),
  },
];

const EDIT_SECRET: fc.WeightedArbitrary<Action> = {
  weight: 2,
  arbitrary: fc.record({ do: fc.constant("edit secret" as const), editIndex: fc.nat({ max: 8 }) }),
};
const BACK_UP: fc.WeightedArbitrary<Action> = {
  weight: 1,
  arbitrary: fc.record({ do: fc.constant("back up" as const) }),
};
const EDIT_BUNDLES: fc.WeightedArbitrary<Action> = {
  weight: 2,
  arbitrary: fc.record({ do: fc.constant("edit bundles" as const), editIndex: fc.nat({ max: 4 }) }),
};
const CHANGE_CLOCK: fc.WeightedArbitrary<Action> = {
  weight: 2,
  arbitrary: fc.record({
    do: fc.constant("clock" as const),
    replicaIndex,
    offsetMs: fc.constantFrom(0, MINUTE_MS, -MINUTE_MS, 30 * DAY_MS, -30 * DAY_MS, 700 * DAY_MS, -700 * DAY_MS),
  }),
};

type Entries = Readonly<Record<string, string>>;
type Backup = { data: Entries };

async function perform(cluster: SimulatedCluster, action: Action, backup: Backup): Promise<void> {
  const replica = cluster.replicas["replicaIndex" in action ? action.replicaIndex : 0];
  if (replica === undefined) return;
  if (action.do === "reconcile") await cluster.startReconcile(replica);
  else if (action.do === "end call") await cluster.endCall(action.callIndex, action.outcome);
  else if (action.do === "crash") await cluster.crash(replica);
  else if (action.do === "advance") await advance(cluster, action.ms);
  else if (action.do === "clock") replica.clockOffsetMs = action.offsetMs;
  else if (action.do === "back up") backup.data = cluster.store.secret()?.data ?? {};
  else if (action.do === "edit secret") {
    cluster.editSecret(editEntries(action.editIndex, cluster.store.secret()?.data ?? {}, backup));
  } else if (action.do === "edit bundles") editBundles(cluster, action.editIndex);
  else await reconcileRounds(cluster, action);
}

/** Advances the clock. Ends all pending API calls before a step of more than 10 s, which is the time limit of a call. */
async function advance(cluster: SimulatedCluster, ms: number): Promise<void> {
  if (ms > 10_000) {
    for (let count = 0; cluster.pendingCallCount() > 0; count += 1) {
      await cluster.endCall(0, count % 2 === 0 ? "request lost" : "response lost");
    }
  }
  cluster.advance(ms);
}

async function reconcileRounds(
  cluster: SimulatedCluster,
  options: { rounds: number; ms: number; replicaIndex: number },
): Promise<void> {
  for (let round = 0; round < options.rounds; round += 1) {
    for (let index = 0; index < REPLICAS; index += 1) {
      const replica = cluster.replicas[(options.replicaIndex + index) % REPLICAS];
      if (replica !== undefined) await cluster.reconcile(replica);
    }
    await advance(cluster, options.ms);
  }
}

/** Returns the complete content of the Secret after a manual edit; undefined if the edit deletes the Secret. */
function editEntries(editIndex: number, data: Entries, backup: Backup): Entries | undefined {
  const { "ca.crt": caCert = "", ...withoutCa } = data;
  const manualCa = createFakeCa(`by hand ${editIndex}`, 0, DAY_MS * 40_000);
  const edits: readonly (Entries | undefined)[] = [
    undefined,
    {},
    { ...data, "ca.key": "key of someone else" },
    withoutCa,
    { ...data, "ca.crt": "garbage" },
    { ...data, "next.crt": "garbage", "next.key": "garbage", "ca.crt": caCert },
    { ...data, "retired.json": "[{}]" },
    backup.data,
    { ...data, "ca.crt": manualCa.cert, "ca.key": manualCa.key },
  ];
  return edits[editIndex];
}

function editBundles(cluster: SimulatedCluster, editIndex: number): void {
  const bundles = cluster.store.configuration()?.bundles ?? [];
  const foreignCertificate = createFakeCa("foreign", 0, Number.MAX_SAFE_INTEGER).cert;
  if (editIndex === 0) cluster.store.setBundles(["", ""]);
  else if (editIndex === 1) cluster.store.setBundles(bundles.map((text, index) => (index === 0 ? "" : text)));
  else if (editIndex === 2) cluster.store.setBundles(bundles.map((text) => text + foreignCertificate));
  else if (editIndex === 3) cluster.store.setBundles([...bundles.slice(0, 4), ""]);
  else cluster.store.setBundles(bundles.map(() => "not PEM at all"));
}

/** Checks the invariants that hold after some minutes without failures, whatever happened before. */
async function expectRecovered(cluster: SimulatedCluster): Promise<void> {
  while (cluster.pendingCallCount() > 0) await cluster.endCall(0, "request lost");
  for (const replica of cluster.replicas) replica.clockOffsetMs = 0;
  await reconcileRounds(cluster, { rounds: 8, ms: LIFETIMES.settleMs + 1_000, replicaIndex: 0 });
  const writeCount = cluster.store.writeCount();
  await reconcileRounds(cluster, { rounds: 2, ms: 10_000, replicaIndex: 1 });
  expect(cluster.store.writeCount() - writeCount).toBe(0);
  expect(cluster.replicas.map((replica) => isReady(cluster, replica))).toEqual(cluster.replicas.map(() => true));
  const content = readContent(cluster.store.secret()?.data ?? {}, TOOLS);
  expect(content.secretErrors).toEqual([]);
  expect(content.authority.next).toBeUndefined();
  const leaves = new Set(cluster.replicas.map((replica) => replica.reconciler.leaf()?.cert));
  expect([...leaves]).toEqual([content.authority.signer?.id]);
  for (const bundle of cluster.store.configuration()?.bundles ?? []) {
    expect(containsExactly(bundle, trustedCas(content.authority))).toBe(true);
  }
}

/**
 * Replaces the signer in the Secret by a new CA. The replicas, which reconcile after `elapsedMs`, make the new CA the next CA, which
 * issues nothing yet. A second edit makes it the signer again, before the settle time has passed.
 */
async function createClusterWithEarlySigner(elapsedMs: number): Promise<SimulatedCluster> {
  const cluster = createCluster(REPLICAS);
  const options = { rounds: 1, ms: 5_000, replicaIndex: 0 };
  await reconcileRounds(cluster, options);
  await reconcileRounds(cluster, options);
  const byHand = editEntries(8, cluster.store.secret()?.data ?? {}, { data: {} });
  cluster.editSecret(byHand);
  await advance(cluster, elapsedMs);
  await reconcileRounds(cluster, options);
  cluster.editSecret(byHand);
  await reconcileRounds(cluster, options);
  return cluster;
}

test("a CA that a user makes the signer too early signs after --ca-settle, or immediately if the leaf certificate has expired", async () => {
  const certificatesOf = (cluster: SimulatedCluster) =>
    cluster.replicas.map((replica) => atob(replica.reconciler.leaf()?.cert ?? ""));
  const earlyCluster = await createClusterWithEarlySigner(5_000);
  expect(certificatesOf(earlyCluster)).toEqual(
    Array.from({ length: REPLICAS }, () => expect.stringContaining('"CA 1"')),
  );
  await reconcileRounds(earlyCluster, { rounds: 3, ms: LIFETIMES.settleMs, replicaIndex: 0 });
  const certificatesAfterSettling = certificatesOf(earlyCluster);
  const certificatesAfterExpiry = certificatesOf(await createClusterWithEarlySigner(LIFETIMES.leafLifeMs + DAY_MS));
  for (const cas of [certificatesAfterSettling, certificatesAfterExpiry]) {
    expect(cas).toEqual(Array.from({ length: REPLICAS }, () => expect.stringContaining('"by hand 8"')));
  }
});

type Rules = { readonly oracle: (cluster: SimulatedCluster) => readonly string[]; readonly runs: number };

async function expectForHistories(actions: readonly fc.WeightedArbitrary<Action>[], rules: Rules): Promise<void> {
  const histories = fc.array(fc.oneof(...actions), { minLength: 20, maxLength: 120, size: "max" });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const cluster = createCluster(REPLICAS);
      const backup: Backup = { data: {} };
      for (const action of history) {
        await perform(cluster, action, backup);
        expect(rules.oracle(cluster), JSON.stringify(action)).toEqual([]);
      }
      await expectRecovered(cluster);
      expect(rules.oracle(cluster)).toEqual([]);
    }),
    { numRuns: rules.runs, endOnFailure: true },
  );
}

test(
  "in any order of reconciliations, crashes and failures, every API server trusts each served certificate",
  TIMEOUT,
  () => expectForHistories(COMMON_ACTIONS, { oracle: untrustedReadyReplicas, runs: 150 }),
);

test("if the Secret is deleted, damaged or edited, every API server trusts each served certificate", TIMEOUT, () =>
  expectForHistories([...COMMON_ACTIONS, BACK_UP, EDIT_SECRET], { oracle: untrustedReadyReplicas, runs: 150 }),
);

test(
  "if clocks jump by years, a replica with a recent reconciliation serves only certificates that API servers trust",
  TIMEOUT,
  () =>
    expectForHistories([...COMMON_ACTIONS, CHANGE_CLOCK], {
      oracle: (cluster) => untrustedReadyReplicas(cluster, LIFETIMES.dropDelayMs),
      runs: 150,
    }),
);

test(
  "minutes after any edits of caBundles, Secret and clocks, all replicas are ready and caBundles and Secret agree again",
  TIMEOUT,
  () =>
    expectForHistories([...COMMON_ACTIONS, CHANGE_CLOCK, BACK_UP, EDIT_SECRET, EDIT_BUNDLES], {
      oracle: () => [],
      runs: 150,
    }),
);
