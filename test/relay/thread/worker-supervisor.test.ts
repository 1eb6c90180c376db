import { describe, expect, test } from "vitest";
import type { RelayAccessRequest } from "../../../src/contract/relay-access.ts";
import { issuerIdentityOf } from "../../../src/relay/identity/identity.ts";
import { END_STREAMS_LIMIT_MS, METRICS_LIMIT_MS } from "../../../src/relay/thread/worker-supervisor.ts";
import { createFakeCa, createFakeKey } from "../identity/fake-tools.ts";
import { ADDRESS, type SupervisedThread, superviseFakeThread } from "./fake-workers.ts";

const REQUEST: RelayAccessRequest = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-5d9",
  ownerUid: "uid-5d9",
  existingAccess: undefined,
};

function createIdentity(name: string) {
  const ca = { ...createFakeCa(name, 0), validFromMs: 0, validUntilMs: 1e12 };
  return issuerIdentityOf({ cas: [ca], keys: [createFakeKey(name, 0)] });
}

/** Longer than any restart delay. */
const PAUSE_MS = 60_000;

describe("the access of Pods to the relay", () => {
  test("has the CA of the thread's last message, and is missing before the first message", () => {
    const relay = superviseFakeThread();
    expect(relay.issueRelayAccess?.(REQUEST)).toBeUndefined();
    for (const name of ["first", "second"]) {
      const identity = createIdentity(name);
      relay.newestThread().send({ kind: "identity", identity });
      expect(relay.issueRelayAccess?.(REQUEST)).toMatchObject({
        address: "10.96.0.7:8444",
        ca: identity.cas[0]?.id,
      });
    }
  });

  test("stays after the thread exits, until the next thread sends another identity", async () => {
    const relay = superviseFakeThread();
    relay.newestThread().send({ kind: "identity", identity: createIdentity("first") });
    const earlierAccess = relay.issueRelayAccess?.(REQUEST);
    expect(earlierAccess).toBeDefined();
    relay.newestThread().fail("out of memory");
    expect(relay.issueRelayAccess?.(REQUEST)).toEqual(earlierAccess);
    await relay.advance(PAUSE_MS);
    expect(relay.threads).toHaveLength(2);
    expect(relay.issueRelayAccess?.(REQUEST)).toEqual(earlierAccess);
  });

  test("does not contain the private key of a CA", () => {
    const [ca] = createIdentity("first").cas;
    expect(Object.keys(ca ?? {}).sort()).toEqual(["id", "validFromMs", "validUntilMs"]);
  });

  test("is missing without a valid relay address, which is logged once", () => {
    const relay = superviseFakeThread("[$(NOT_KNOWN)]:8444");
    expect(relay.issueRelayAccess).toBeUndefined();
    expect(relay.lines).toEqual([expect.stringContaining("Pods are injected without the relay")]);
  });
});

describe("a relay thread that exits unexpectedly", () => {
  test("is logged, and restarted with a growing delay", async () => {
    const relay = superviseFakeThread();
    for (const pauseMs of [250, 500, 1_000, 2_000]) {
      const before = relay.threads.length;
      relay.newestThread().fail("it threw");
      await relay.advance(pauseMs - 1);
      expect(relay.threads).toHaveLength(before);
      await relay.advance(1);
      expect(relay.threads).toHaveLength(before + 1);
    }
    expect(relay.lines).toHaveLength(4);
    expect(await relay.readOwnMetrics()).toMatch(/^lastcall_relay_thread_starts_total 5$/m);
  });

  test("is restarted soon after a long run", async () => {
    const relay = superviseFakeThread();
    relay.newestThread().fail("it threw");
    await relay.advance(250);
    await relay.advance(60_000);
    relay.newestThread().fail("it threw");
    await relay.advance(250);
    expect(relay.threads).toHaveLength(3);
  });

  test("is started again if the operating system could not start it, and the webhook does not wait for the thread", async () => {
    const relay = superviseFakeThread(ADDRESS, 2);
    await relay.waitUntilReady(5_000);
    expect(await relay.metrics()).toBe("");
    await relay.advance(250);
    expect([relay.threads.length, relay.lines.length]).toEqual([0, 2]);
    await relay.advance(500);
    expect(relay.threads).toHaveLength(1);
  });

  test("is not restarted after the process starts to shut down", async () => {
    const relay = superviseFakeThread();
    relay.newestThread().fail("it threw");
    await relay.endStreams();
    await relay.stop();
    await relay.advance(PAUSE_MS);
    expect(relay.threads).toHaveLength(1);
  });
});

describe("the relay's metrics", () => {
  test("are requested from the relay's thread", async () => {
    const relay = superviseFakeThread();
    const metrics = relay.metrics();
    relay.newestThread().send({ kind: "metrics", text: "lastcall_relay_streams 3\n" });
    expect(await metrics).toBe("lastcall_relay_streams 3\n");
    expect(await relay.readOwnMetrics()).toMatch(/^lastcall_relay_answering 1$/m);
  });

  test("are missing if the thread does not respond in time, and another metric shows the delay", async () => {
    const relay = superviseFakeThread();
    const metrics = relay.metrics();
    await relay.advance(METRICS_LIMIT_MS);
    expect(await metrics).toBe("");
    expect(await relay.readOwnMetrics()).toMatch(/^lastcall_relay_answering 0$/m);
  });

  test("are requested once by concurrent scrapes of a busy thread, and a late response serves the next scrape", async () => {
    const relay = superviseFakeThread();
    const scrapes = [relay.metrics(), relay.metrics()];
    await relay.advance(METRICS_LIMIT_MS);
    expect(await Promise.all(scrapes)).toEqual(["", ""]);
    const next = relay.metrics();
    expect(relay.newestThread().requests).toEqual(["metrics"]);
    relay.newestThread().send({ kind: "metrics", text: "late 1\n" });
    expect(await next).toBe("late 1\n");
  });

  test("are immediately missing if the thread exits or is missing", async () => {
    const relay = superviseFakeThread();
    const metrics = relay.metrics();
    relay.newestThread().fail("it threw");
    expect(await metrics).toBe("");
    expect(await relay.metrics()).toBe("");
    expect(await relay.readOwnMetrics()).toMatch(/^lastcall_relay_answering 0$/m);
  });
});

describe("the process waits for the relay", () => {
  test.for([
    ["the relay is ready", (relay: SupervisedThread) => relay.newestThread().send({ kind: "ready" })],
    ["the relay failed to start", (relay: SupervisedThread) => relay.newestThread().fail("it threw")],
    ["the limit has passed", (relay: SupervisedThread): unknown => relay.advance(5_000)],
  ] as const)("during its start until %s", async ([_title, trigger]) => {
    const relay = superviseFakeThread();
    let isWaiting = true;
    const ready = relay.waitUntilReady(5_000).then(() => {
      isWaiting = false;
    });
    await relay.advance(4_999);
    expect(isWaiting).toBe(true);
    trigger(relay);
    await ready;
  });

  test.for([
    [
      "the relay has ended its streams",
      (relay: SupervisedThread) => relay.newestThread().send({ kind: "streams-ended" }),
    ],
    ["the thread ended", (relay: SupervisedThread) => relay.newestThread().fail("it threw")],
    ["the limit has passed", (relay: SupervisedThread): unknown => relay.advance(END_STREAMS_LIMIT_MS)],
  ] as const)("during its shutdown until %s, and then terminates the thread", async ([_title, trigger]) => {
    const relay = superviseFakeThread();
    void relay.endStreams();
    let isWaiting = true;
    const stopped = relay.stop().then(() => {
      isWaiting = false;
    });
    await relay.advance(END_STREAMS_LIMIT_MS - 1);
    expect([isWaiting, relay.newestThread().requests, relay.newestThread().wasTerminated()]).toEqual([
      true,
      ["end-streams"],
      false,
    ]);
    trigger(relay);
    await stopped;
    await relay.advance(PAUSE_MS);
    expect(relay.threads).toHaveLength(1);
  });

  test("during its shutdown for the running thread, despite an earlier exited thread", async () => {
    const relay = superviseFakeThread();
    relay.newestThread().fail("it threw");
    await relay.advance(250);
    void relay.endStreams();
    const stopped = relay.stop();
    await relay.advance(END_STREAMS_LIMIT_MS - 1);
    expect([relay.newestThread().requests, relay.newestThread().wasTerminated()]).toEqual([["end-streams"], false]);
    relay.newestThread().send({ kind: "streams-ended" });
    await stopped;
    expect(relay.newestThread().wasTerminated()).toBe(true);
  });

  test("only if it has requested the end of the streams", async () => {
    const relay = superviseFakeThread();
    await relay.stop();
    expect(relay.newestThread().wasTerminated()).toBe(true);
    expect(relay.lines).toEqual([]);
  });
});

test("log lines and Events of the relay's thread are passed on by the process", () => {
  const relay = superviseFakeThread();
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9", uid: "uid-5d9" };
  const event = { namespace: "shop", owner, type: "Normal", reason: "Drained", message: "drained in 5 s" } as const;
  relay.newestThread().send({ kind: "event", event });
  relay.newestThread().send({ kind: "line", level: "warn", keys: {}, sentence: "something" });
  expect([relay.events, relay.lines]).toEqual([[event], ["warn: something"]]);
});
