/** Tests the events that a replica records about its writes, and its behaviour under constant conflicts. */
import { expect, test } from "vitest";
import { type AuthorityEvent, createReconciler } from "../../../src/webhook/certificates/reconciler.ts";
import { createApiStore } from "./api-store.ts";
import { createFakeTools } from "./fake-certificates.ts";

const HOUR_MS = 3_600_000;
const LIFETIMES = { caLifeMs: 240 * HOUR_MS, leafLifeMs: 24 * HOUR_MS, settleMs: 60_000, dropDelayMs: 60_000 };

type ForcedConflicts = { readonly secret?: "conflict"; readonly configuration?: "conflict" };

function startReplica(conflicts: ForcedConflicts = {}) {
  const store = createApiStore(() => 0, 2);
  const events: AuthorityEvent[] = [];
  const createdSecrets: object[] = [];
  let nameCount = 0;
  const newName = (): string => {
    nameCount += 1;
    return `ca-${nameCount}`;
  };
  const reconciler = createReconciler(
    {
      secrets: {
        read: async () => store.secret(),
        create: async (data) => {
          createdSecrets.push(data);
          return conflicts.secret ?? store.createSecret(data);
        },
        update: async (current, changes) => conflicts.secret ?? store.updateSecret(current, changes),
      },
      configurations: {
        displayName: "MutatingWebhookConfiguration w",
        read: async () => store.configuration(),
        writeBundle: async (current, bundle) => conflicts.configuration ?? store.writeBundle(current, bundle),
      },
      tools: createFakeTools(newName),
      now: () => ({ wallMs: 10 * HOUR_MS, monotonicMs: 10 * HOUR_MS }),
      recordEvent: (event) => events.push(event),
    },
    LIFETIMES,
  );
  return { reconciler, events, createdSecrets, store };
}

test("the first replica records the new CA, the write of the caBundle and the promotion to signer, without errors in the Secret", async () => {
  const { reconciler, events, createdSecrets } = startReplica();
  await reconciler.reconcile();
  expect(events).toEqual([
    { kind: "secret-written", reason: "begin" },
    { kind: "bundle-written", cas: 1 },
    { kind: "secret-written", reason: "promote" },
  ]);
  // The first write contains only the next CA.
  expect(createdSecrets.map((data) => Object.keys(data))).toEqual([["next.crt", "next.key"]]);
});

test("a caBundle without the served certificate's CA is repaired in the same reconciliation", async () => {
  const { reconciler, store } = startReplica();
  await reconciler.reconcile();
  expect(reconciler.leaf()).toBeDefined();
  store.setBundles(["", ""]);
  await reconciler.reconcile();
  expect(reconciler.distrustReason()).toBe("");
  expect(store.configuration()?.bundles.every((bundle) => bundle !== "")).toBe(true);
});

test("errors in the Secret are recorded before the repair", async () => {
  const { reconciler, events, store } = startReplica();
  await reconciler.reconcile();
  store.setSecret({ "ca.crt": store.secret()?.data["ca.crt"] ?? "" });
  events.splice(0);
  await reconciler.reconcile();
  expect(events[0]).toEqual({ kind: "secret-errors", errors: ["ca.key is missing"] });
  expect(events[1]).toEqual({ kind: "secret-written", reason: "repair" });
});

test.for([
  { on: "Secret", conflicts: { secret: "conflict" } },
  { on: "configuration", conflicts: { configuration: "conflict" } },
] as const)(
  "a write of the $on is abandoned after repeated conflicts, and every conflict is recorded",
  async ({ on, conflicts }) => {
    const { reconciler, events } = startReplica(conflicts);
    await expect(reconciler.reconcile()).rejects.toThrow(
      /^the Secret or the webhook configuration was changed by other clients \d+ times/,
    );
    const conflictEvents = events.filter(({ kind }) => kind === "conflict");
    expect(conflictEvents.length).toBeGreaterThan(5);
    expect(new Set(conflictEvents.map((event) => JSON.stringify(event)))).toEqual(
      new Set([JSON.stringify({ kind: "conflict", on })]),
    );
    expect(events.filter(({ kind }) => kind === "bundle-written")).toEqual([]);
  },
);

test("a replica whose reconciliation fails reports isInSync false, and still serves its certificate", async () => {
  const { reconciler, store } = startReplica();
  expect([reconciler.distrustReason(), reconciler.status().isInSync]).toEqual([undefined, false]);
  await reconciler.reconcile();
  const { leafValidUntilMs } = reconciler.status();
  expect(reconciler.status()).toMatchObject({ isInSync: true, signer: { validFromMs: expect.any(Number) } });
  store.setBundles(undefined);
  await expect(reconciler.reconcile()).rejects.toThrow();
  expect([reconciler.distrustReason(), reconciler.status()]).toMatchObject(["", { isInSync: false, leafValidUntilMs }]);
});

test("a missing webhook configuration is reported with its name", async () => {
  const { reconciler, store } = startReplica();
  store.setBundles(undefined);
  await expect(reconciler.reconcile()).rejects.toThrow("MutatingWebhookConfiguration w does not exist");
});
