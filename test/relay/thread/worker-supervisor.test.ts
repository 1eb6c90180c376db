/** What the admissions see of the relay's thread, whatever it does. */
import { describe, expect, test } from "vitest";
import type { RelayAccessRequest } from "../../../src/contract/relay-access.ts";
import { accessIdentityOf } from "../../../src/relay/identity/identity.ts";
import { LEAVE_LIMIT_MS, METRICS_LIMIT_MS } from "../../../src/relay/thread/worker-supervisor.ts";
import { pretendGeneration, pretendKey } from "../identity/pretend-tools.ts";
import { ADDRESS, type KeptThread, keptThread } from "./pretend-workers.ts";

const QUESTION: RelayAccessRequest = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-5d9",
  ownerUid: "uid-5d9",
  existing: undefined,
};

function identityOf(name: string) {
  const generation = { ...pretendGeneration(name, 0), validFromMs: 0, validUntilMs: 1e12 };
  return accessIdentityOf({ generations: [generation], keys: [pretendKey(name, 0)] });
}

/** Longer than any pause before another thread is begun. */
const PAUSE_MS = 60_000;

describe("what Pods are given", () => {
  test("is what the thread said last, and nothing before it said something", () => {
    const kept = keptThread();
    expect(kept.giveRelayAccess?.(QUESTION)).toBeUndefined();
    for (const name of ["first", "second"]) {
      const identity = identityOf(name);
      kept.newest().say({ kind: "identity", identity });
      expect(kept.giveRelayAccess?.(QUESTION)).toMatchObject({
        address: "10.96.0.7:8444",
        ca: identity.generations[0]?.id,
      });
    }
  });

  test("stays while there is no thread, and until the next one has said something else", async () => {
    const kept = keptThread();
    kept.newest().say({ kind: "identity", identity: identityOf("first") });
    const before = kept.giveRelayAccess?.(QUESTION);
    expect(before).toBeDefined();
    kept.newest().fail("out of memory");
    expect(kept.giveRelayAccess?.(QUESTION)).toEqual(before);
    await kept.turn(PAUSE_MS);
    expect(kept.threads).toHaveLength(2);
    expect(kept.giveRelayAccess?.(QUESTION)).toEqual(before);
  });

  test("holds no key of a CA", () => {
    const [generation] = identityOf("first").generations;
    expect(Object.keys(generation ?? {}).sort()).toEqual(["id", "validFromMs", "validUntilMs"]);
  });

  test("is nothing without an address, which is told once", () => {
    const kept = keptThread("[$(NOT_KNOWN)]:8444");
    expect(kept.giveRelayAccess).toBeUndefined();
    expect(kept.lines).toEqual([expect.stringContaining("Pods are injected without the relay")]);
  });
});

describe("a thread that ends by itself", () => {
  test("is told, and followed by another after a pause that grows", async () => {
    const kept = keptThread();
    for (const pauseMs of [250, 500, 1_000, 2_000]) {
      const before = kept.threads.length;
      kept.newest().fail("it threw");
      await kept.turn(pauseMs - 1);
      expect(kept.threads).toHaveLength(before);
      await kept.turn(1);
      expect(kept.threads).toHaveLength(before + 1);
    }
    expect(kept.lines).toHaveLength(4);
    expect(await kept.ownMetrics()).toMatch(/^lastcall_relay_thread_starts_total 5$/m);
  });

  test("after a long life is followed soon again", async () => {
    const kept = keptThread();
    kept.newest().fail("it threw");
    await kept.turn(250);
    await kept.turn(60_000);
    kept.newest().fail("it threw");
    await kept.turn(250);
    expect(kept.threads).toHaveLength(3);
  });

  test("or that the system does not give is asked for again, and no one waits for it", async () => {
    const kept = keptThread(ADDRESS, 2);
    await kept.ready(5_000);
    expect(await kept.metrics()).toBe("");
    await kept.turn(250);
    expect([kept.threads.length, kept.lines.length]).toEqual([0, 2]);
    await kept.turn(500);
    expect(kept.threads).toHaveLength(1);
  });

  test("is followed by none once the process leaves", async () => {
    const kept = keptThread();
    kept.newest().fail("it threw");
    await kept.leave();
    await kept.stop();
    await kept.turn(PAUSE_MS);
    expect(kept.threads).toHaveLength(1);
  });
});

describe("the relay's metrics", () => {
  test("are what the thread answers", async () => {
    const kept = keptThread();
    const metrics = kept.metrics();
    kept.newest().say({ kind: "metrics", text: "lastcall_relay_streams 3\n" });
    expect(await metrics).toBe("lastcall_relay_streams 3\n");
    expect(await kept.ownMetrics()).toMatch(/^lastcall_relay_answering 1$/m);
  });

  test("are left out when it does not answer in time, and a metric says so", async () => {
    const kept = keptThread();
    const metrics = kept.metrics();
    await kept.turn(METRICS_LIMIT_MS);
    expect(await metrics).toBe("");
    expect(await kept.ownMetrics()).toMatch(/^lastcall_relay_answering 0$/m);
  });

  test("are asked for once by all who ask while it is busy, and a late answer serves the next", async () => {
    const kept = keptThread();
    const asked = [kept.metrics(), kept.metrics()];
    await kept.turn(METRICS_LIMIT_MS);
    expect(await Promise.all(asked)).toEqual(["", ""]);
    const next = kept.metrics();
    expect(kept.newest().orders).toEqual(["metrics"]);
    kept.newest().say({ kind: "metrics", text: "late 1\n" });
    expect(await next).toBe("late 1\n");
  });

  test("are left out at once when there is no thread, or it ends meanwhile", async () => {
    const kept = keptThread();
    const metrics = kept.metrics();
    kept.newest().fail("it threw");
    expect(await metrics).toBe("");
    expect(await kept.metrics()).toBe("");
    expect(await kept.ownMetrics()).toMatch(/^lastcall_relay_answering 0$/m);
  });
});

describe("the process waits for the relay", () => {
  test.for([
    ["it is ready", (kept: KeptThread) => kept.newest().say({ kind: "ready" })],
    ["it could not begin", (kept: KeptThread) => kept.newest().fail("it threw")],
    ["its time is over", (kept: KeptThread): unknown => kept.turn(5_000)],
  ] as const)("at its start until %s", async ([_says, happens]) => {
    const kept = keptThread();
    let waits = true;
    const ready = kept.ready(5_000).then(() => {
      waits = false;
    });
    await kept.turn(4_999);
    expect(waits).toBe(true);
    happens(kept);
    await ready;
  });

  test.for([
    ["it has left", (kept: KeptThread) => kept.newest().say({ kind: "left" })],
    ["it ended", (kept: KeptThread) => kept.newest().fail("it threw")],
    ["its time is over", (kept: KeptThread): unknown => kept.turn(LEAVE_LIMIT_MS)],
  ] as const)("at its end until %s, and ends what is left of it", async ([_says, happens]) => {
    const kept = keptThread();
    void kept.leave();
    let waits = true;
    const stopped = kept.stop().then(() => {
      waits = false;
    });
    await kept.turn(LEAVE_LIMIT_MS - 1);
    expect([waits, kept.newest().orders, kept.newest().wasEnded()]).toEqual([true, ["leave"], false]);
    happens(kept);
    await stopped;
    await kept.turn(PAUSE_MS);
    expect(kept.threads).toHaveLength(1);
  });

  test("at its end for the thread that lives, whatever became of the one before", async () => {
    const kept = keptThread();
    kept.newest().fail("it threw");
    await kept.turn(250);
    void kept.leave();
    const stopped = kept.stop();
    await kept.turn(LEAVE_LIMIT_MS - 1);
    expect([kept.newest().orders, kept.newest().wasEnded()]).toEqual([["leave"], false]);
    kept.newest().say({ kind: "left" });
    await stopped;
    expect(kept.newest().wasEnded()).toBe(true);
  });

  test("not at all when it never told it to leave", async () => {
    const kept = keptThread();
    await kept.stop();
    expect(kept.newest().wasEnded()).toBe(true);
    expect(kept.lines).toEqual([]);
  });
});

test("its log lines and its notes to owners are passed on", () => {
  const kept = keptThread();
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9", uid: "uid-5d9" };
  const note = { namespace: "shop", owner, type: "Normal", reason: "Drained", message: "drained in 5 s" } as const;
  kept.newest().say({ kind: "event", event: note });
  kept.newest().say({ kind: "line", level: "warn", keys: {}, sentence: "something" });
  expect([kept.notes, kept.lines]).toEqual([[note], ["warn: something"]]);
});
