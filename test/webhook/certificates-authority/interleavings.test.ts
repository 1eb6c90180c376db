/** Random histories of several replicas against the oracle of `simulated-cluster.ts`. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { containsExactly } from "../../../src/authority/certificate.ts";
import { trustedBy } from "../../../src/webhook/certificates/authority.ts";
import { readContent } from "../../../src/webhook/certificates/secret-content.ts";
import { fakeCa, fakeTools } from "./fake-certificates.ts";
import {
  brokenPromises,
  createCluster,
  DAY_MS,
  type Fate,
  HOUR_MS,
  isReady,
  LIVES,
  MINUTE_MS,
  type SimulatedCluster,
} from "./simulated-cluster.ts";

const LIMIT = { timeout: 240_000 };
const SIZE = 3;
const READER = fakeTools(() => "");

type Action =
  | { readonly do: "reconcile"; readonly who: number }
  | { readonly do: "end call"; readonly which: number; readonly fate: Fate }
  | { readonly do: "crash"; readonly who: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "quiet times"; readonly rounds: number; readonly ms: number; readonly who: number }
  | { readonly do: "clock"; readonly who: number; readonly offsetMs: number }
  | { readonly do: "back up" }
  | { readonly do: "edit secret"; readonly how: number }
  | { readonly do: "edit bundles"; readonly how: number };

const who = fc.nat({ max: SIZE - 1 });
const fate = fc.constantFrom<Fate>("answered", "answered", "answered", "answered", "never arrives", "answer lost");
const passing = fc.constantFrom(1_000, 5_000, 30_000, 61_000, 2 * HOUR_MS, DAY_MS, 8 * DAY_MS, 110 * DAY_MS);

const ORDINARY: readonly fc.WeightedArbitrary<Action>[] = [
  { weight: 6, arbitrary: fc.record({ do: fc.constant("reconcile" as const), who }) },
  { weight: 24, arbitrary: fc.record({ do: fc.constant("end call" as const), which: fc.nat({ max: 9 }), fate }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), who }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: passing }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("quiet times" as const),
      rounds: fc.integer({ min: 1, max: 3 }),
      ms: passing,
      who,
    }),
  },
];

const EDIT_SECRET: fc.WeightedArbitrary<Action> = {
  weight: 2,
  arbitrary: fc.record({ do: fc.constant("edit secret" as const), how: fc.nat({ max: 8 }) }),
};
const BACK_UP: fc.WeightedArbitrary<Action> = {
  weight: 1,
  arbitrary: fc.record({ do: fc.constant("back up" as const) }),
};
const EDIT_BUNDLES: fc.WeightedArbitrary<Action> = {
  weight: 2,
  arbitrary: fc.record({ do: fc.constant("edit bundles" as const), how: fc.nat({ max: 4 }) }),
};
const CLOCK: fc.WeightedArbitrary<Action> = {
  weight: 2,
  arbitrary: fc.record({
    do: fc.constant("clock" as const),
    who,
    offsetMs: fc.constantFrom(0, MINUTE_MS, -MINUTE_MS, 30 * DAY_MS, -30 * DAY_MS, 700 * DAY_MS, -700 * DAY_MS),
  }),
};

type Entries = Readonly<Record<string, string>>;
type Backup = { data: Entries };

async function act(cluster: SimulatedCluster, action: Action, backup: Backup): Promise<void> {
  const replica = cluster.replicas["who" in action ? action.who : 0];
  if (replica === undefined) return;
  if (action.do === "reconcile") await cluster.startReconcile(replica);
  else if (action.do === "end call") await cluster.endCall(action.which, action.fate);
  else if (action.do === "crash") await cluster.crash(replica);
  else if (action.do === "pass") await pass(cluster, action.ms);
  else if (action.do === "clock") replica.clockOffsetMs = action.offsetMs;
  else if (action.do === "back up") backup.data = cluster.store.secret()?.data ?? {};
  else if (action.do === "edit secret") {
    cluster.editSecret(editedSecret(action.how, cluster.store.secret()?.data ?? {}, backup));
  } else if (action.do === "edit bundles") editBundles(cluster, action.how);
  else await quietTimes(cluster, action);
}

/** Calls do not outlive their time limit. */
async function pass(cluster: SimulatedCluster, ms: number): Promise<void> {
  if (ms > 10_000) {
    for (let count = 0; cluster.pendingCalls() > 0; count += 1) {
      await cluster.endCall(0, count % 2 === 0 ? "never arrives" : "answer lost");
    }
  }
  cluster.pass(ms);
}

async function quietTimes(
  cluster: SimulatedCluster,
  times: { rounds: number; ms: number; who: number },
): Promise<void> {
  for (let round = 0; round < times.rounds; round += 1) {
    for (let index = 0; index < SIZE; index += 1) {
      const replica = cluster.replicas[(times.who + index) % SIZE];
      if (replica !== undefined) await cluster.reconcile(replica);
    }
    await pass(cluster, times.ms);
  }
}

/** Manual edits of the Secret, as its complete content afterwards. */
function editedSecret(how: number, data: Entries, backup: Backup): Entries | undefined {
  const { "ca.crt": caCert = "", ...withoutCa } = data;
  const byHand = fakeCa(`by hand ${how}`, 0, DAY_MS * 40_000);
  const edits: readonly (Entries | undefined)[] = [
    undefined,
    {},
    { ...data, "ca.key": "key of someone else" },
    withoutCa,
    { ...data, "ca.crt": "garbage" },
    { ...data, "next.crt": "garbage", "next.key": "garbage", "ca.crt": caCert },
    { ...data, "retired.json": "[{}]" },
    backup.data,
    { ...data, "ca.crt": byHand.cert, "ca.key": byHand.key },
  ];
  return edits[how];
}

function editBundles(cluster: SimulatedCluster, how: number): void {
  const bundles = cluster.store.configuration()?.bundles ?? [];
  const foreign = fakeCa("foreign", 0, Number.MAX_SAFE_INTEGER).cert;
  if (how === 0) cluster.store.setBundles(["", ""]);
  else if (how === 1) cluster.store.setBundles(bundles.map((text, index) => (index === 0 ? "" : text)));
  else if (how === 2) cluster.store.setBundles(bundles.map((text) => text + foreign));
  else if (how === 3) cluster.store.setBundles([...bundles.slice(0, 4), ""]);
  else cluster.store.setBundles(bundles.map(() => "not PEM at all"));
}

/** Invariants that hold after some quiet minutes, whatever happened before. */
async function expectHealed(cluster: SimulatedCluster): Promise<void> {
  while (cluster.pendingCalls() > 0) await cluster.endCall(0, "never arrives");
  for (const replica of cluster.replicas) replica.clockOffsetMs = 0;
  await quietTimes(cluster, { rounds: 8, ms: LIVES.settleMs + 1_000, who: 0 });
  const writes = cluster.store.writes();
  await quietTimes(cluster, { rounds: 2, ms: 10_000, who: 1 });
  expect(cluster.store.writes() - writes).toBe(0);
  expect(cluster.replicas.map((replica) => isReady(cluster, replica))).toEqual(cluster.replicas.map(() => true));
  const content = readContent(cluster.store.secret()?.data ?? {}, READER);
  expect(content.secretErrors).toEqual([]);
  expect(content.authority.next).toBeUndefined();
  const leaves = new Set(cluster.replicas.map((replica) => replica.reconciler.leaf()?.cert));
  expect([...leaves]).toEqual([content.authority.signer?.id]);
  for (const bundle of cluster.store.configuration()?.bundles ?? []) {
    expect(containsExactly(bundle, trustedBy(content.authority))).toBe(true);
  }
}

/** Replaces the Secret's CA and the next CA by hand; later restores the same content, which makes it the signer. */
async function hurriedSigner(passedMs: number): Promise<SimulatedCluster> {
  const cluster = createCluster(SIZE);
  const pace = { rounds: 1, ms: 5_000, who: 0 };
  await quietTimes(cluster, pace);
  await quietTimes(cluster, pace);
  const byHand = editedSecret(8, cluster.store.secret()?.data ?? {}, { data: {} });
  cluster.editSecret(byHand);
  await pass(cluster, passedMs);
  await quietTimes(cluster, pace);
  cluster.editSecret(byHand);
  await quietTimes(cluster, pace);
  return cluster;
}

test("a CA that a user makes the signer too early waits while a leaf is valid, and else signs at once", async () => {
  const caOf = (cluster: SimulatedCluster) =>
    cluster.replicas.map((replica) => atob(replica.reconciler.leaf()?.cert ?? ""));
  const early = await hurriedSigner(5_000);
  expect(caOf(early)).toEqual(Array.from({ length: SIZE }, () => expect.stringContaining('"CA 1"')));
  await quietTimes(early, { rounds: 3, ms: LIVES.settleMs, who: 0 });
  const settled = caOf(early);
  const late = caOf(await hurriedSigner(LIVES.leafLifeMs + DAY_MS));
  for (const cas of [settled, late]) {
    expect(cas).toEqual(Array.from({ length: SIZE }, () => expect.stringContaining('"by hand 8"')));
  }
});

type Rules = { readonly oracle: (cluster: SimulatedCluster) => readonly string[]; readonly runs: number };

async function expectAlways(kinds: readonly fc.WeightedArbitrary<Action>[], rules: Rules): Promise<void> {
  const histories = fc.array(fc.oneof(...kinds), { minLength: 20, maxLength: 120, size: "max" });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const cluster = createCluster(SIZE);
      const backup: Backup = { data: {} };
      for (const action of history) {
        await act(cluster, action, backup);
        expect(rules.oracle(cluster), JSON.stringify(action)).toEqual([]);
      }
      await expectHealed(cluster);
      expect(rules.oracle(cluster)).toEqual([]);
    }),
    { numRuns: rules.runs, endOnFailure: true },
  );
}

test(
  "in any order of replicas, crashes and failures, each served certificate is trusted by every API server",
  LIMIT,
  () => expectAlways(ORDINARY, { oracle: brokenPromises, runs: 150 }),
);

test("if the Secret is deleted, damaged or edited, each served certificate is trusted by every API server", LIMIT, () =>
  expectAlways([...ORDINARY, BACK_UP, EDIT_SECRET], { oracle: brokenPromises, runs: 150 }),
);

test("if clocks jump by years, a connected replica serves only certificates that every API server trusts", LIMIT, () =>
  expectAlways([...ORDINARY, CLOCK], { oracle: (cluster) => brokenPromises(cluster, LIVES.dropDelayMs), runs: 150 }),
);

test("some minutes after any edits of caBundles, Secret and clocks, all invariants hold again", LIMIT, () =>
  expectAlways([...ORDINARY, CLOCK, BACK_UP, EDIT_SECRET, EDIT_BUNDLES], { oracle: () => [], runs: 150 }),
);
