import { describe, expect, test } from "vitest";
import type { RelayAccessRequest } from "../../../src/contract/relay-access.ts";
import { accessIdentityOf } from "../../../src/relay/identity/identity.ts";
import { END_STREAMS_LIMIT_MS, METRICS_LIMIT_MS } from "../../../src/relay/thread/worker-supervisor.ts";
import { fakeGeneration, fakeKey } from "../identity/fake-tools.ts";
import { ADDRESS, type KeptThread, keptThread } from "./fake-workers.ts";

const REQUEST: RelayAccessRequest = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-5d9",
  ownerUid: "uid-5d9",
  existing: undefined,
};

function identityOf(name: string) {
  const generation = { ...fakeGeneration(name, 0), validFromMs: 0, validUntilMs: 1e12 };
  return accessIdentityOf({ generations: [generation], keys: [fakeKey(name, 0)] });
}

/** Longer than any restart delay. */
const PAUSE_MS = 60_000;

describe("the relay access of Pods", () => {
  test("is from the thread's last message, and is missing before the first message", () => {
    const kept = keptThread();
    expect(kept.issueRelayAccess?.(REQUEST)).toBeUndefined();
    for (const name of ["first", "second"]) {
      const identity = identityOf(name);
      kept.newest().send({ kind: "identity", identity });
      expect(kept.issueRelayAccess?.(REQUEST)).toMatchObject({
        address: "10.96.0.7:8444",
        ca: identity.generations[0]?.id,
      });
    }
  });

  test("stays after the thread exits, until the next thread sends another identity", async () => {
    const kept = keptThread();
    kept.newest().send({ kind: "identity", identity: identityOf("first") });
    const before = kept.issueRelayAccess?.(REQUEST);
    expect(before).toBeDefined();
    kept.newest().fail("out of memory");
    expect(kept.issueRelayAccess?.(REQUEST)).toEqual(before);
    await kept.turn(PAUSE_MS);
    expect(kept.threads).toHaveLength(2);
    expect(kept.issueRelayAccess?.(REQUEST)).toEqual(before);
  });

  test("does not contain the private key of a CA", () => {
    const [generation] = identityOf("first").generations;
    expect(Object.keys(generation ?? {}).sort()).toEqual(["id", "validFromMs", "validUntilMs"]);
  });

  test("is missing without a valid relay address, which is logged once", () => {
    const kept = keptThread("[$(NOT_KNOWN)]:8444");
    expect(kept.issueRelayAccess).toBeUndefined();
    expect(kept.lines).toEqual([expect.stringContaining("Pods are injected without the relay")]);
  });
});

describe("a relay thread that exits unexpectedly", () => {
  test("is logged, and restarted with a growing delay", async () => {
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

  test("is restarted soon after a long run", async () => {
    const kept = keptThread();
    kept.newest().fail("it threw");
    await kept.turn(250);
    await kept.turn(60_000);
    kept.newest().fail("it threw");
    await kept.turn(250);
    expect(kept.threads).toHaveLength(3);
  });

  test("is created again if the system did not create it, without a delay of the start", async () => {
    const kept = keptThread(ADDRESS, 2);
    await kept.waitUntilReady(5_000);
    expect(await kept.metrics()).toBe("");
    await kept.turn(250);
    expect([kept.threads.length, kept.lines.length]).toEqual([0, 2]);
    await kept.turn(500);
    expect(kept.threads).toHaveLength(1);
  });

  test("is not restarted once the process shuts down", async () => {
    const kept = keptThread();
    kept.newest().fail("it threw");
    await kept.endStreams();
    await kept.stop();
    await kept.turn(PAUSE_MS);
    expect(kept.threads).toHaveLength(1);
  });
});

describe("the relay's metrics", () => {
  test("are requested from the relay's thread", async () => {
    const kept = keptThread();
    const metrics = kept.metrics();
    kept.newest().send({ kind: "metrics", text: "lastcall_relay_streams 3\n" });
    expect(await metrics).toBe("lastcall_relay_streams 3\n");
    expect(await kept.ownMetrics()).toMatch(/^lastcall_relay_answering 1$/m);
  });

  test("are missing if the thread does not respond in time, and another metric shows the delay", async () => {
    const kept = keptThread();
    const metrics = kept.metrics();
    await kept.turn(METRICS_LIMIT_MS);
    expect(await metrics).toBe("");
    expect(await kept.ownMetrics()).toMatch(/^lastcall_relay_answering 0$/m);
  });

  test("are requested once by concurrent scrapes of a busy thread, and a late response serves the next scrape", async () => {
    const kept = keptThread();
    const scrapes = [kept.metrics(), kept.metrics()];
    await kept.turn(METRICS_LIMIT_MS);
    expect(await Promise.all(scrapes)).toEqual(["", ""]);
    const next = kept.metrics();
    expect(kept.newest().requests).toEqual(["metrics"]);
    kept.newest().send({ kind: "metrics", text: "late 1\n" });
    expect(await next).toBe("late 1\n");
  });

  test("are missing at once if the thread exits or is missing", async () => {
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
    ["the relay is ready", (kept: KeptThread) => kept.newest().send({ kind: "ready" })],
    ["the relay failed to start", (kept: KeptThread) => kept.newest().fail("it threw")],
    ["the limit has passed", (kept: KeptThread): unknown => kept.turn(5_000)],
  ] as const)("during its start until %s", async ([_title, happens]) => {
    const kept = keptThread();
    let waits = true;
    const ready = kept.waitUntilReady(5_000).then(() => {
      waits = false;
    });
    await kept.turn(4_999);
    expect(waits).toBe(true);
    happens(kept);
    await ready;
  });

  test.for([
    ["the relay has left its streams", (kept: KeptThread) => kept.newest().send({ kind: "left" })],
    ["the thread ended", (kept: KeptThread) => kept.newest().fail("it threw")],
    ["the limit has passed", (kept: KeptThread): unknown => kept.turn(END_STREAMS_LIMIT_MS)],
  ] as const)("during its shutdown until %s, and then terminates the thread", async ([_title, happens]) => {
    const kept = keptThread();
    void kept.endStreams();
    let waits = true;
    const stopped = kept.stop().then(() => {
      waits = false;
    });
    await kept.turn(END_STREAMS_LIMIT_MS - 1);
    expect([waits, kept.newest().requests, kept.newest().wasEnded()]).toEqual([true, ["leave"], false]);
    happens(kept);
    await stopped;
    await kept.turn(PAUSE_MS);
    expect(kept.threads).toHaveLength(1);
  });

  test("during its shutdown for the running thread, despite an earlier exited thread", async () => {
    const kept = keptThread();
    kept.newest().fail("it threw");
    await kept.turn(250);
    void kept.endStreams();
    const stopped = kept.stop();
    await kept.turn(END_STREAMS_LIMIT_MS - 1);
    expect([kept.newest().requests, kept.newest().wasEnded()]).toEqual([["leave"], false]);
    kept.newest().send({ kind: "left" });
    await stopped;
    expect(kept.newest().wasEnded()).toBe(true);
  });

  test("only after a leave request", async () => {
    const kept = keptThread();
    await kept.stop();
    expect(kept.newest().wasEnded()).toBe(true);
    expect(kept.lines).toEqual([]);
  });
});

test("log lines and Events of the relay's thread are passed on by the process", () => {
  const kept = keptThread();
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9", uid: "uid-5d9" };
  const event = { namespace: "shop", owner, type: "Normal", reason: "Drained", message: "drained in 5 s" } as const;
  kept.newest().send({ kind: "event", event });
  kept.newest().send({ kind: "line", level: "warn", keys: {}, sentence: "something" });
  expect([kept.events, kept.lines]).toEqual([[event], ["warn: something"]]);
});
