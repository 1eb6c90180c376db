/** Replicas that share one Secret: who makes what, and what becomes of it when someone else writes or deletes. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf, type SigningCa } from "../../../src/authority/certificate.ts";
import { newestGeneration, signingKey } from "../../../src/relay/identity/identity.ts";
import { IDENTITY_TOOLS, type IdentityTools } from "../../../src/relay/identity/identity-tools.ts";
import { createKeeper, type IdentityEvent, type Keeper } from "../../../src/relay/identity/reconciler.ts";
import { entriesOf } from "../../../src/relay/identity/secret-content.ts";
import { type PretendSecret, pretendSecret } from "./pretend-secret.ts";
import { DAY_MS, START_MS, YEAR_MS } from "./pretend-tools.ts";

const LIMIT = { timeout: 300_000 };

type Replica = { readonly keeper: Keeper; readonly events: readonly IdentityEvent[] };

type World = { readonly secret: PretendSecret; wallMs: number };

function replicaIn(world: World, tools: IdentityTools = IDENTITY_TOOLS, aheadMs = 0): Replica {
  const events: IdentityEvent[] = [];
  const keeper = createKeeper({
    secrets: world.secret.store,
    tools,
    wallMs: () => world.wallMs + aheadMs,
    tell: (event) => events.push(event),
  });
  return { keeper, events };
}

const newWorld = (): World => ({ secret: pretendSecret(), wallMs: START_MS });
const kinds = ({ events }: Replica) => events.map(({ kind }) => kind);

describe("the Secret", () => {
  test("is made by the first replica and used by the others", LIMIT, async () => {
    const world = newWorld();
    const [first, second] = [replicaIn(world), replicaIn(world)];
    await first.keeper.look();
    await second.keeper.look();
    expect(kinds(first)).toEqual(["written"]);
    expect(kinds(second)).toEqual([]);
    expect(first.keeper.identity()).toEqual(second.keeper.identity());
    expect(first.keeper.identity().generations).toHaveLength(1);
    expect(first.keeper.identity().keys).toHaveLength(1);
  });

  test("made by two at once has one maker", LIMIT, async () => {
    const world = newWorld();
    const replicas = [replicaIn(world), replicaIn(world), replicaIn(world)];
    await Promise.all(replicas.map(({ keeper }) => keeper.look()));
    expect(replicas.flatMap(kinds).toSorted()).toEqual(["conflict", "conflict", "written"]);
    const [one, two, three] = replicas.map(({ keeper }) => keeper.identity());
    expect(two).toEqual(one);
    expect(three).toEqual(one);
  });

  test("that the chart left empty is filled, and what others keep in it stays", LIMIT, async () => {
    const world = newWorld();
    world.secret.put({ note: "theirs" });
    await replicaIn(world).keeper.look();
    expect(world.secret.data()).toMatchObject({ note: "theirs" });
    expect(Object.keys(world.secret.data() ?? {})).toHaveLength(4);
  });

  test("is read and nothing else while all is well", LIMIT, async () => {
    const world = newWorld();
    const { keeper } = replicaIn(world);
    await keeper.look();
    const before = world.secret.calls.length;
    for (let look = 0; look < 5; look += 1) await keeper.look();
    expect(world.secret.calls.slice(before)).toEqual(Array(5).fill("read"));
  });

  test("that is deleted is made again, and the loss is told once", LIMIT, async () => {
    const world = newWorld();
    const replica = replicaIn(world);
    await replica.keeper.look();
    const [old] = replica.keeper.identity().generations;
    world.secret.put(undefined);
    await replica.keeper.look();
    await replica.keeper.look();
    expect(kinds(replica)).toEqual(["written", "written", "lost"]);
    expect(replica.events.at(-1)).toEqual({ kind: "lost", generations: [old && fingerprintOf(old)] });
    expect(replica.keeper.identity().generations).toHaveLength(1);
  });

  test("that is damaged in a part keeps the rest", LIMIT, async () => {
    const world = newWorld();
    const replica = replicaIn(world);
    await replica.keeper.look();
    const before = replica.keeper.identity();
    const keyEntry = `sign-${before.keys[0]?.kid}.json`;
    world.secret.put({ ...world.secret.data(), [keyEntry]: '{"made":' });
    await replica.keeper.look();
    expect(kinds(replica)).toEqual(["written", "damage", "written"]);
    expect(replica.keeper.identity().generations).toEqual(before.generations);
    expect(replica.keeper.identity().keys[0]?.kid).not.toBe(before.keys[0]?.kid);
    expect(world.secret.data()).not.toHaveProperty(keyEntry);
  });

  test("serves with its good parts also where no one may repair it", LIMIT, async () => {
    const world = newWorld();
    await replicaIn(world).keeper.look();
    world.secret.put({ ...world.secret.data(), "sign-00000000.json": "" });
    const { store } = world.secret;
    const readOnly = { ...store, update: () => Promise.reject(new Error("403 forbidden")) };
    const replica = replicaIn({ ...world, secret: { ...world.secret, store: readOnly } });
    await expect(replica.keeper.look()).rejects.toThrow("403 forbidden");
    expect(replica.keeper.identity().generations).toHaveLength(1);
    expect(replica.keeper.identity().keys).toHaveLength(1);
  });

  test("that cannot be read leaves in use what was known", LIMIT, async () => {
    const world = newWorld();
    const { keeper } = replicaIn(world);
    await keeper.look();
    const before = keeper.identity();
    world.secret.failWith = "no route to host";
    await expect(keeper.look()).rejects.toThrow("no route to host");
    expect(keeper.identity()).toBe(before);
  });

  test("that someone changes without end is given up on", LIMIT, async () => {
    const world = newWorld();
    world.secret.put({});
    world.secret.beforeWrite = () => world.secret.put({ ...world.secret.data() });
    await expect(replicaIn(world, await cheapTools()).keeper.look()).rejects.toThrow("16 times in a row");
  });
});

describe("with the years", () => {
  test("a new CA comes after five, a new key every 90 days, and what Pods carry stays good", LIMIT, async () => {
    const world = newWorld();
    const [first, second] = [replicaIn(world), replicaIn(world)];
    const given: string[] = [];
    for (let day = 0; day <= 11 * 365; day += 30) {
      world.wallMs = START_MS + day * DAY_MS;
      await first.keeper.look();
      await second.keeper.look();
      expect(second.keeper.identity()).toEqual(first.keeper.identity());
      given.push(newestGeneration(first.keeper.identity(), world.wallMs)?.id ?? "none");
    }
    expect(new Set(given).size).toBe(3);
    expect(given).not.toContain("none");
    expect(first.keeper.identity().keys).toHaveLength(10);
    expect(kinds(first)).not.toContain("lost");
  });

  test("a CA is valid as early as the one before it, whosever clock made it", LIMIT, async () => {
    const world = newWorld();
    await replicaIn(world).keeper.look();
    await replicaIn(world, IDENTITY_TOOLS, 6 * YEAR_MS).keeper.look();
    const { keeper } = replicaIn(world);
    await keeper.look();
    const { generations } = keeper.identity();
    expect(generations).toHaveLength(2);
    for (const { validFromMs } of generations) expect(validFromMs).toBeLessThan(START_MS);
  });
});

/** Real CAs made once and handed out again and again: making one takes 10 ms. */
let pool: readonly SigningCa[] = [];
beforeAll(async () => {
  pool = await Promise.all(Array.from({ length: 40 }, () => IDENTITY_TOOLS.makeGeneration(START_MS, START_MS)));
}, 120_000);

async function cheapTools(): Promise<IdentityTools> {
  let used = 0;
  return {
    makeGeneration: async () => {
      used += 1;
      const generation = pool[(used - 1) % pool.length];
      if (generation === undefined) throw new Error("the pool is empty");
      return generation;
    },
    makeKey: IDENTITY_TOOLS.makeKey,
  };
}

const anyStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("look" as const), replica: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), days: fc.constantFrom(0.1, 1, 89, 91) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), replica: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "delete" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), at: fc.nat(30) }) },
);

test("whatever happens, replicas that have looked agree, and each can sign what all others verify", LIMIT, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
      const world = newWorld();
      const tools = await cheapTools();
      const replicas = [replicaIn(world, tools), replicaIn(world, tools), replicaIn(world, tools)];
      for (const step of steps) await perform(step, world, replicas, () => replicaIn(world, tools));
      // The second round knows what the last of the first has made.
      for (const { keeper } of [...replicas, ...replicas]) await keeper.look();
      const identities = replicas.map(({ keeper }) => keeper.identity());
      for (const identity of identities) {
        const key = signingKey(identity, world.wallMs);
        expect(key).toBeDefined();
        for (const other of identities) expect(other.keys).toContainEqual(key);
        expect(newestGeneration(identity, world.wallMs)).toEqual(
          newestGeneration(identities[0] ?? identity, world.wallMs),
        );
        expect(newestGeneration(identity, world.wallMs)).toBeDefined();
      }
      expect(Object.keys(entriesOf(identities[0] ?? { generations: [], keys: [] })).length).toBeLessThanOrEqual(18);
    }),
    { numRuns: 150 },
  );
});

type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

async function perform(step: Step, world: World, replicas: Replica[], restarted: () => Replica): Promise<void> {
  if (step.kind === "look") await replicas[step.replica]?.keeper.look();
  else if (step.kind === "wait") world.wallMs += step.days * DAY_MS;
  else if (step.kind === "restart") replicas[step.replica] = restarted();
  else if (step.kind === "delete") world.secret.put(undefined);
  else world.secret.put(cut(world.secret.data(), step.at));
}

/** Half of one entry is gone. */
function cut(
  data: Readonly<Record<string, string>> | undefined,
  at: number,
): Readonly<Record<string, string>> | undefined {
  const names = Object.keys(data ?? {});
  const name = names[at % Math.max(1, names.length)];
  return data === undefined || name === undefined ? data : { ...data, [name]: data[name]?.slice(0, 40) ?? "" };
}
