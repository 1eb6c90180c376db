/** Tests the counts of connections that a Pod's stop reset. */
import { describe, expect, test } from "vitest";
import { createResetCounter } from "../../src/manager/traffic/resets.ts";
import { type Build, describeBuilds } from "./builds.ts";
import { canIsolate, runInOwnNetwork } from "./own-network.ts";
import { toTcpSocket } from "./socket-lists.ts";
import { socket } from "./traffic-room.ts";

type Client = { readonly isUnanswered: boolean };

const SOCKET = toTcpSocket(socket({}));

function createPod(probes: readonly { readonly port: number; readonly periodMs: number }[] = []) {
  const counters = { resets: 40, drops: 2, opens: 100 };
  const queue: Client[] = [];
  const state = { isQueueComplete: true, nowMs: 1_000 };
  const files = new Map<string, () => string>([
    ["/proc/net/snmp", () => `Tcp: PassiveOpens ActiveOpens OutRsts\nTcp: ${counters.opens} 0 ${counters.resets}\n`],
    ["/proc/net/netstat", () => `TcpExt: ListenDrops\nTcpExt: ${counters.drops}\n`],
  ]);
  let currentClient: Client | undefined;
  const counter = createResetCounter({
    readText: (path) => files.get(path)?.(),
    probes,
    nowMs: () => state.nowMs,
    destroyed: {
      start: () => {
        queue.length = 0;
      },
      readAll: (onSocket) => {
        for (const client of queue) {
          currentClient = client;
          onSocket(SOCKET);
        }
        return state.isQueueComplete;
      },
    },
    monitor: { isClientSocket: () => true, isClosedUnanswered: () => currentClient?.isUnanswered ?? false },
  });
  return { counters, queue, state, files, counter };
}

describe("the report of a Pod's resets", () => {
  test("separates the resets before and after the answers to the apps' hooks", () => {
    const { counter, counters, state, queue } = createPod();
    counter.markTrigger();
    counters.resets += 3;
    queue.push({ isUnanswered: true });
    state.nowMs += 5_000;
    counter.markRelease(4);
    counters.resets += 2;
    counters.drops += 1;
    state.nowMs += 900;
    expect(counter.report()).toEqual({ draining: 3, stopping: 3, probes: 0, stoppingMs: 900 });
  });

  test("includes the connections that were closed before a response", () => {
    const { counter, counters, queue } = createPod([{ port: 8_080, periodMs: 1_000 }]);
    counter.markTrigger();
    counter.markRelease(3);
    counters.resets += 1;
    queue.push({ isUnanswered: true }, { isUnanswered: false }, { isUnanswered: true });
    expect(counter.report()).toMatchObject({ stopping: 3, probes: 1 });
  });

  test("counts every connection that may have been reset if the kernel's queue overflowed", () => {
    const { counter, counters, queue, state } = createPod();
    counter.markTrigger();
    counter.markRelease(20);
    counters.opens += 5;
    queue.push({ isUnanswered: true }, { isUnanswered: false });
    state.isQueueComplete = false;
    expect(counter.report()).toMatchObject({ stopping: 1 + 20 + 5 - 2 });
  });

  test("starts again at zero with the next drain", () => {
    const { counter, counters } = createPod();
    counter.markTrigger();
    counter.markRelease(0);
    counters.resets += 9;
    counter.markTrigger();
    counter.markRelease(0);
    expect(counter.report()).toMatchObject({ draining: 0, stopping: 0 });
  });

  test.for([
    { title: "at most as many probes as resets", resets: 1, stopMs: 25_000, probes: 1 },
    {
      title: "one probe per elapsed period and one more, for each kind of probe",
      resets: 9,
      stopMs: 25_000,
      probes: 3 + 6,
    },
    { title: "a probe of each kind in a short stop", resets: 9, stopMs: 10, probes: 2 },
  ])("includes $title", ({ resets, stopMs, probes }) => {
    const periods = [10_000, 5_000, 0].map((periodMs) => ({ port: 8_080, periodMs }));
    const { counter, counters, state } = createPod(periods);
    counter.markTrigger();
    counter.markRelease(0);
    counters.resets += resets;
    state.nowMs += stopMs;
    expect(counter.report()).toMatchObject({ stopping: resets, probes });
  });

  test.for([
    { title: "the apps' hooks were not answered", change: ({ counter }: Pod) => counter.markTrigger() },
    { title: "a file cannot be read", change: ({ files }: Pod) => files.delete("/proc/net/netstat") },
    {
      title: "a counter is smaller than before",
      change: ({ counters }: Pod) => Object.assign(counters, { resets: 0 }),
    },
    {
      title: "neither the kernel's queue nor the sockets at the answers to the hooks are known",
      change: ({ counter, state }: Pod) => {
        counter.markRelease(-1);
        state.isQueueComplete = false;
      },
    },
  ])("does not exist if $title", ({ change }) => {
    const pod = createPod();
    pod.counter.markTrigger();
    pod.counter.markRelease(0);
    expect(pod.counter.report()).toBeDefined();
    change(pod);
    expect(pod.counter.report()).toBeUndefined();
  });
});

type Pod = ReturnType<typeof createPod>;

describeBuilds("a manager in its own network namespace", (build) => {
  test.skipIf(!canIsolate)("logs its report again at its exit, with the resets", { timeout: 60_000 }, () => {
    const reports = runPod("--drain-timeout=60s", build);
    const [first] = reports;
    expect(first).not.toHaveProperty("resets");
    const resets = { draining: 1, stopping: 3, probes: 0, stoppingMs: expect.any(Number) };
    expect(reports).toEqual([first, { ...Object(first), resets }]);
  });

  test.skipIf(!canIsolate)("logs one report without resets in classic mode", { timeout: 60_000 }, () => {
    expect(runPod("--classic", build)).toEqual([expect.not.objectContaining({ resets: expect.anything() })]);
  });
});

function runPod(flag: string, { command, args }: Build): readonly unknown[] {
  const lines = runInOwnNetwork("resets-pod.ts", [flag, command, ...args]);
  return lines.flatMap((line) => (line["message"] === "drain report" ? [line["report"]] : []));
}
