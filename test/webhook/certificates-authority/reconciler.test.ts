/** What a replica tells of its own writes, and what it does when others write all the time. */
import { expect, test } from "vitest";
import { type AuthorityEvent, createReconciler } from "../../../src/webhook/certificates/reconciler.ts";
import { apiStore } from "./api-store.ts";
import { pretendTools } from "./pretend-certificates.ts";

const HOUR_MS = 3_600_000;
const LIVES = { caLifeMs: 240 * HOUR_MS, leafLifeMs: 24 * HOUR_MS, settleMs: 60_000, dropHoldMs: 60_000 };

type Races = { readonly secret?: "conflict"; readonly configuration?: "conflict" };

function replica(races: Races = {}) {
  const store = apiStore(() => 0, 2);
  const told: AuthorityEvent[] = [];
  const created: object[] = [];
  let names = 0;
  const newName = (): string => {
    names += 1;
    return `ca-${names}`;
  };
  const reconciler = createReconciler(
    {
      secrets: {
        read: async () => store.secret(),
        create: async (data) => {
          created.push(data);
          return races.secret ?? store.createSecret(data);
        },
        update: async (seen, changes) => races.secret ?? store.updateSecret(seen, changes),
      },
      configurations: {
        what: "MutatingWebhookConfiguration w",
        read: async () => store.configuration(),
        writeBundle: async (seen, bundle) => races.configuration ?? store.writeBundle(seen, bundle),
      },
      tools: pretendTools(newName),
      now: () => ({ wallMs: 10 * HOUR_MS, monotonicMs: 10 * HOUR_MS }),
      recordEvent: (event) => told.push(event),
    },
    LIVES,
  );
  return { reconciler, told, created, store };
}

test("the first replica tells of the CA it made, the bundle it wrote and that the CA signs, and of no damage", async () => {
  const { reconciler, told, created } = replica();
  await reconciler.reconcile();
  expect(told).toEqual([
    { kind: "secret-written", reason: "begin" },
    { kind: "bundle-written", cas: 1 },
    { kind: "secret-written", reason: "promote" },
  ]);
  // Nothing is written for what there is not yet.
  expect(created.map((data) => Object.keys(data))).toEqual([["next.crt", "next.key"]]);
});

test("a bundle that lost the leaf's CA is written again in the same look", async () => {
  const { reconciler, store } = replica();
  await reconciler.reconcile();
  expect(reconciler.leaf()).toBeDefined();
  store.setBundles(["", ""]);
  await reconciler.reconcile();
  expect(reconciler.distrust()).toBe("");
  expect(store.configuration()?.bundles.every((bundle) => bundle !== "")).toBe(true);
});

test("damage of the Secret is told before it is repaired", async () => {
  const { reconciler, told, store } = replica();
  await reconciler.reconcile();
  store.setSecret({ "ca.crt": store.secret()?.data["ca.crt"] ?? "" });
  told.splice(0);
  await reconciler.reconcile();
  expect(told[0]).toEqual({ kind: "secret-errors", errors: ["ca.key is missing"] });
  expect(told[1]).toEqual({ kind: "secret-written", reason: "repair" });
});

test.for([
  { on: "Secret", races: { secret: "conflict" } },
  { on: "configuration", races: { configuration: "conflict" } },
] as const)("a $on that others change all the time is given up, with every lost race told", async ({ on, races }) => {
  const { reconciler, told } = replica(races);
  await expect(reconciler.reconcile()).rejects.toThrow(
    /^the Secret or the webhook configuration was changed by another writer \d+ times/,
  );
  const lost = told.filter(({ kind }) => kind === "conflict");
  expect(lost.length).toBeGreaterThan(5);
  expect(new Set(lost.map((event) => JSON.stringify(event)))).toEqual(
    new Set([JSON.stringify({ kind: "conflict", on })]),
  );
  expect(told.filter(({ kind }) => kind === "bundle-written")).toEqual([]);
});

test("a replica is in sync until the API server cannot be reached, and goes on with its leaf", async () => {
  const { reconciler, store } = replica();
  expect([reconciler.distrust(), reconciler.status().isInSync]).toEqual([undefined, false]);
  await reconciler.reconcile();
  const { leafValidUntilMs } = reconciler.status();
  expect(reconciler.status()).toMatchObject({ isInSync: true, signer: { validFromMs: expect.any(Number) } });
  store.setBundles(undefined);
  await expect(reconciler.reconcile()).rejects.toThrow();
  expect([reconciler.distrust(), reconciler.status()]).toMatchObject(["", { isInSync: false, leafValidUntilMs }]);
});

test("without the configuration there is nothing to look after, and it is named", async () => {
  const { reconciler, store } = replica();
  store.setBundles(undefined);
  await expect(reconciler.reconcile()).rejects.toThrow("MutatingWebhookConfiguration w does not exist");
});
