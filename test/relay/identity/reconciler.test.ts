/** Tests replicas that share a Secret, with concurrent writes and deletions. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf, type SigningCa } from "../../../src/authority/certificate.ts";
import { newestValidCa, signingKey } from "../../../src/relay/identity/identity.ts";
import { createReconciler, type IdentityEvent, type Reconciler } from "../../../src/relay/identity/reconciler.ts";
import { entriesOf, IDENTITY_TOOLS, type IdentityTools } from "../../../src/relay/identity/secret-content.ts";
import { createFakeSecret, type FakeSecret } from "./fake-secret.ts";
import { DAY_MS, START_MS, YEAR_MS } from "./fake-tools.ts";

const TIMEOUT = { timeout: 300_000 };

type Replica = { readonly reconciler: Reconciler; readonly events: readonly IdentityEvent[] };

type Cluster = { readonly secret: FakeSecret; wallMs: number };

function createReplica(cluster: Cluster, tools: IdentityTools = IDENTITY_TOOLS, aheadMs = 0): Replica {
  const events: IdentityEvent[] = [];
  const reconciler = createReconciler({
    secrets: cluster.secret.store,
    tools,
    wallMs: () => cluster.wallMs + aheadMs,
    recordEvent: (event) => events.push(event),
  });
  return { reconciler, events };
}

const createCluster = (): Cluster => ({ secret: createFakeSecret(), wallMs: START_MS });
const eventKindsOf = ({ events }: Replica) => events.map(({ kind }) => kind);

describe("the relay's Secret", () => {
  test("is created by the first replica and used by the other replicas", TIMEOUT, async () => {
    const cluster = createCluster();
    const [first, second] = [createReplica(cluster), createReplica(cluster)];
    await first.reconciler.reconcile();
    await second.reconciler.reconcile();
    expect(eventKindsOf(first)).toEqual(["secret-written"]);
    expect(eventKindsOf(second)).toEqual([]);
    expect(first.reconciler.identity()).toEqual(second.reconciler.identity());
    expect(first.reconciler.identity().cas).toHaveLength(1);
    expect(first.reconciler.identity().keys).toHaveLength(1);
  });

  test("is created once if two replicas start at the same time", TIMEOUT, async () => {
    const cluster = createCluster();
    const replicas = [createReplica(cluster), createReplica(cluster), createReplica(cluster)];
    await Promise.all(replicas.map(({ reconciler }) => reconciler.reconcile()));
    expect(replicas.flatMap(eventKindsOf).toSorted()).toEqual(["conflict", "conflict", "secret-written"]);
    const [one, two, three] = replicas.map(({ reconciler }) => reconciler.identity());
    expect(two).toEqual(one);
    expect(three).toEqual(one);
  });

  test("is filled if the chart created it empty, and unknown entries stay", TIMEOUT, async () => {
    const cluster = createCluster();
    cluster.secret.put({ note: "theirs" });
    await createReplica(cluster).reconciler.reconcile();
    expect(cluster.secret.data()).toMatchObject({ note: "theirs" });
    expect(Object.keys(cluster.secret.data() ?? {})).toHaveLength(4);
  });

  test("is read and not written while its entries are valid", TIMEOUT, async () => {
    const cluster = createCluster();
    const { reconciler } = createReplica(cluster);
    await reconciler.reconcile();
    const before = cluster.secret.calls.length;
    for (let round = 0; round < 5; round += 1) await reconciler.reconcile();
    expect(cluster.secret.calls.slice(before)).toEqual(Array(5).fill("read"));
  });

  test("is created again after its deletion, and the deletion is logged once", TIMEOUT, async () => {
    const cluster = createCluster();
    const replica = createReplica(cluster);
    await replica.reconciler.reconcile();
    const [old] = replica.reconciler.identity().cas;
    cluster.secret.put(undefined);
    await replica.reconciler.reconcile();
    await replica.reconciler.reconcile();
    expect(eventKindsOf(replica)).toEqual(["secret-written", "secret-written", "lost"]);
    expect(replica.events.at(-1)).toEqual({ kind: "lost", generations: [old && fingerprintOf(old)] });
    expect(replica.reconciler.identity().cas).toHaveLength(1);
  });

  test("keeps its valid entries if another entry is damaged", TIMEOUT, async () => {
    const cluster = createCluster();
    const replica = createReplica(cluster);
    await replica.reconciler.reconcile();
    const before = replica.reconciler.identity();
    const keyEntry = `sign-${before.keys[0]?.kid}.json`;
    cluster.secret.put({ ...cluster.secret.data(), [keyEntry]: '{"made":' });
    await replica.reconciler.reconcile();
    expect(eventKindsOf(replica)).toEqual(["secret-written", "secret-errors", "secret-written"]);
    expect(replica.reconciler.identity().cas).toEqual(before.cas);
    expect(replica.reconciler.identity().keys[0]?.kid).not.toBe(before.keys[0]?.kid);
    expect(cluster.secret.data()).not.toHaveProperty(keyEntry);
  });

  test("is used with its valid entries even if no replica is allowed to repair it", TIMEOUT, async () => {
    const cluster = createCluster();
    await createReplica(cluster).reconciler.reconcile();
    cluster.secret.put({ ...cluster.secret.data(), "sign-00000000.json": "" });
    const { store } = cluster.secret;
    const readOnly = { ...store, update: () => Promise.reject(new Error("403 forbidden")) };
    const replica = createReplica({ ...cluster, secret: { ...cluster.secret, store: readOnly } });
    await expect(replica.reconciler.reconcile()).rejects.toThrow("403 forbidden");
    expect(replica.reconciler.identity().cas).toHaveLength(1);
    expect(replica.reconciler.identity().keys).toHaveLength(1);
  });

  test("does not change the identity in use while it cannot be read", TIMEOUT, async () => {
    const cluster = createCluster();
    const { reconciler } = createReplica(cluster);
    await reconciler.reconcile();
    const before = reconciler.identity();
    cluster.secret.rejectionMessage = "no route to host";
    await expect(reconciler.reconcile()).rejects.toThrow("no route to host");
    expect(reconciler.identity()).toBe(before);
  });
});

describe("over ten years", () => {
  test(
    "a CA is made every five years, a signing key every 90 days, and credentials of Pods stay valid",
    TIMEOUT,
    async () => {
      const cluster = createCluster();
      const [first, second] = [createReplica(cluster), createReplica(cluster)];
      const injectedCas: string[] = [];
      for (let day = 0; day <= 11 * 365; day += 30) {
        cluster.wallMs = START_MS + day * DAY_MS;
        await first.reconciler.reconcile();
        await second.reconciler.reconcile();
        expect(second.reconciler.identity()).toEqual(first.reconciler.identity());
        injectedCas.push(newestValidCa(first.reconciler.identity(), cluster.wallMs)?.id ?? "none");
      }
      expect(new Set(injectedCas).size).toBe(3);
      expect(injectedCas).not.toContain("none");
      expect(first.reconciler.identity().keys).toHaveLength(10);
      expect(eventKindsOf(first)).not.toContain("lost");
    },
  );

  test(
    "a new CA is already valid, even if the clock of the replica that created it is years ahead",
    TIMEOUT,
    async () => {
      const cluster = createCluster();
      await createReplica(cluster).reconciler.reconcile();
      await createReplica(cluster, IDENTITY_TOOLS, 6 * YEAR_MS).reconciler.reconcile();
      const { reconciler } = createReplica(cluster);
      await reconciler.reconcile();
      const { cas } = reconciler.identity();
      expect(cas).toHaveLength(2);
      for (const { validFromMs } of cas) expect(validFromMs).toBeLessThan(START_MS);
    },
  );
});

/** Real CAs, created once and reused, because each takes 10 ms. */
let caPool: readonly SigningCa[] = [];
beforeAll(async () => {
  caPool = await Promise.all(Array.from({ length: 40 }, () => IDENTITY_TOOLS.makeCa(START_MS, START_MS)));
}, 120_000);

async function createPooledTools(): Promise<IdentityTools> {
  let usedCount = 0;
  return {
    makeCa: async () => {
      usedCount += 1;
      const ca = caPool[(usedCount - 1) % caPool.length];
      if (ca === undefined) throw new Error("the pool is empty");
      return ca;
    },
    makeKey: IDENTITY_TOOLS.makeKey,
  };
}

const anyStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("reconcile" as const), replica: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), days: fc.constantFrom(0.1, 1, 89, 91) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), replica: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "delete" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), index: fc.nat(30) }) },
);

test(
  "after any sequence of events, reconciled replicas have one identity and verify each other's credentials",
  TIMEOUT,
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
        const cluster = createCluster();
        const tools = await createPooledTools();
        const replicas = [createReplica(cluster, tools), createReplica(cluster, tools), createReplica(cluster, tools)];
        for (const step of steps) await applyStep(step, cluster, replicas, () => createReplica(cluster, tools));
        // In the second round, every replica reads the last write of the first round.
        for (const { reconciler } of [...replicas, ...replicas]) await reconciler.reconcile();
        const identities = replicas.map(({ reconciler }) => reconciler.identity());
        for (const identity of identities) {
          const key = signingKey(identity, cluster.wallMs);
          expect(key).toBeDefined();
          for (const other of identities) expect(other.keys).toContainEqual(key);
          expect(newestValidCa(identity, cluster.wallMs)).toEqual(
            newestValidCa(identities[0] ?? identity, cluster.wallMs),
          );
          expect(newestValidCa(identity, cluster.wallMs)).toBeDefined();
        }
        expect(Object.keys(entriesOf(identities[0] ?? { cas: [], keys: [] })).length).toBeLessThanOrEqual(18);
      }),
      { numRuns: 150 },
    );
  },
);

type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

async function applyStep(
  step: Step,
  cluster: Cluster,
  replicas: Replica[],
  restartReplica: () => Replica,
): Promise<void> {
  if (step.kind === "reconcile") await replicas[step.replica]?.reconciler.reconcile();
  else if (step.kind === "wait") cluster.wallMs += step.days * DAY_MS;
  else if (step.kind === "restart") replicas[step.replica] = restartReplica();
  else if (step.kind === "delete") cluster.secret.put(undefined);
  else cluster.secret.put(truncateEntry(cluster.secret.data(), step.index));
}

/** Truncates one entry of the Secret. */
function truncateEntry(
  data: Readonly<Record<string, string>> | undefined,
  index: number,
): Readonly<Record<string, string>> | undefined {
  const names = Object.keys(data ?? {});
  const name = names[index % Math.max(1, names.length)];
  return data === undefined || name === undefined ? data : { ...data, [name]: data[name]?.slice(0, 40) ?? "" };
}
