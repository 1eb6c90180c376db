/** Tests the counts of connections that a Pod's stop reset. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createResetCounter } from "../../src/manager/traffic/resets.ts";
import { describeBuilds } from "./builds.ts";

type Counters = { resets: number; drops: number };

function createPod(probes: readonly { readonly port: number; readonly periodMs: number }[] = []) {
  const counters: Counters = { resets: 40, drops: 2 };
  let nowMs = 1_000;
  const files = new Map<string, () => string>([
    ["/proc/net/snmp", () => `Tcp: OutSegs OutRsts\nTcp: 9 ${counters.resets}\n`],
    ["/proc/net/netstat", () => `TcpExt: ListenDrops\nTcpExt: ${counters.drops}\n`],
  ]);
  const counter = createResetCounter(
    (path) => files.get(path)?.(),
    probes,
    () => nowMs,
  );
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  return { counters, files, counter, wait };
}

describe("the report of a Pod's resets", () => {
  test("separates the time before and after the apps' release", () => {
    const { counter, counters, wait } = createPod();
    counter.markTrigger();
    counters.resets += 3;
    wait(5_000);
    counter.markRelease();
    counters.resets += 2;
    counters.drops += 1;
    wait(900);
    expect(counter.report()).toEqual({ draining: 3, stopping: 3, probes: 0, stoppingMs: 900 });
  });

  test("counts from the trigger if the apps were never released", () => {
    const { counter, counters, wait } = createPod();
    counter.markTrigger();
    counters.resets += 4;
    wait(700);
    expect(counter.report()).toEqual({ draining: 0, stopping: 4, probes: 0, stoppingMs: 700 });
  });

  test("starts again with the next drain", () => {
    const { counter, counters } = createPod();
    counter.markTrigger();
    counter.markRelease();
    counters.resets += 9;
    counter.markTrigger();
    counter.markRelease();
    expect(counter.report()).toMatchObject({ draining: 0, stopping: 0 });
  });

  test.for([
    { title: "never more probes than resets", resets: 1, stopMs: 25_000, probes: 1 },
    { title: "one probe per period, and one for the first", resets: 9, stopMs: 25_000, probes: 3 + 6 },
    { title: "a probe of each kind in a short stop", resets: 9, stopMs: 10, probes: 2 },
  ])("includes $title", ({ resets, stopMs, probes }) => {
    const periods = [10_000, 5_000, 0].map((periodMs) => ({ port: 8_080, periodMs }));
    const { counter, counters, wait } = createPod(periods);
    counter.markTrigger();
    counter.markRelease();
    counters.resets += resets;
    wait(stopMs);
    expect(counter.report()).toMatchObject({ stopping: resets, probes });
  });

  test("does not exist before a drain, or if a counter cannot be read or was reset", () => {
    expect(createPod().counter.report()).toBeUndefined();
    const unreadable = createPod();
    unreadable.counter.markTrigger();
    unreadable.files.delete("/proc/net/netstat");
    expect(unreadable.counter.report()).toBeUndefined();
    const wrapped = createPod();
    wrapped.counter.markTrigger();
    wrapped.counters.resets = 0;
    expect(wrapped.counter.report()).toBeUndefined();
  });
});

const refusal = spawnSync("unshare", ["-n", "true"], { encoding: "utf8" });
const canIsolate = refusal.status === 0 && spawnSync("ip", ["-V"]).status === 0;
if (!canIsolate)
  process.stdout.write(`skipped: cannot create network namespaces: ${refusal.stderr ?? refusal.error}\n`);

const POD_PROGRAM = new URL("resets-pod.ts", import.meta.url).pathname;

describeBuilds("a manager in its own network namespace", (build) => {
  test.skipIf(!canIsolate)("logs its report again at its exit, with the resets", { timeout: 60_000 }, () => {
    const pod = spawnSync("unshare", ["-n", process.execPath, POD_PROGRAM, build.command, ...build.args], {
      encoding: "utf8",
    });
    expect(pod.stderr).toBe("");
    const reports = pod.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === "drain report")
      .map(({ report }) => report);
    const [first, second] = reports;
    expect(first.resets).toBeUndefined();
    expect(second).toEqual({
      ...first,
      resets: { draining: 1, stopping: 3, probes: 0, stoppingMs: expect.any(Number) },
    });
    expect(reports).toHaveLength(2);
  });
});
