/** Tests the two reports of a manager at its exit, and the limits of their delivery. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/drain-settings.ts";
import { createDriver } from "../../src/manager/manager-driver.ts";
import { NO_PRELOAD } from "../../src/manager/preload-flag.ts";
import { NO_RELAY } from "../../src/manager/relay/relay-client.ts";
import { createRunner } from "../../src/manager/runner.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import { createProcessWatch } from "../../src/manager/traffic/other-processes.ts";
import { NO_RESET_COUNTER, type ResetCounter } from "../../src/manager/traffic/resets.ts";
import { createTrafficMonitor } from "../../src/manager/traffic/traffic-monitor.ts";
import { playback } from "./netlink-room.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const RESETS = { draining: 1, stopping: 2, probes: 0, stoppingMs: 300 };

/** @param deliveryMs duration of the delivery of each report */
function startManager(resets: Partial<ResetCounter>, deliveryMs: number, respond = () => {}) {
  const settings = { ...DEFAULT_SETTINGS, drainDelayMs: 0 };
  const nowMs = () => Date.now();
  const deliveredReports: DrainReport[] = [];
  let deliveredAtMs = 0;
  let exitedAtMs = -1;
  const runner = createRunner({
    settings,
    logSource: { pod: "", namespace: "" },
    chainedHooks: [],
    nowMs,
    relay: {
      ...NO_RELAY,
      deliver: (report) => {
        deliveredReports.push(JSON.parse(report));
        deliveredAtMs = nowMs() + deliveryMs;
      },
      awaitDelivery: (limitMs, done) => {
        setTimeout(done, Math.min(limitMs, Math.max(0, deliveredAtMs - nowMs())));
      },
    },
    preloadFlag: NO_PRELOAD,
    readSockets: () => ({ source: "netlink", socketCount: 0, passiveOpens: 0, activeOpens: 0 }),
    monitor: createTrafficMonitor(settings, createConnectionMemory(Math.random)),
    resets: { ...NO_RESET_COUNTER, ...resets },
    processes: createProcessWatch(settings.port, { address: "", port: 0 }),
    driver: createDriver(settings, playback({}).libc, () => undefined),
    acceptedCount: () => 0,
    respond,
    log: () => undefined,
    exit: () => {
      exitedAtMs = nowMs();
    },
  });
  const drain = async (): Promise<void> => {
    runner.dispatch({ kind: "drain-requested", nowMs: nowMs(), holdId: 1 });
    while (JSON.parse(runner.status()).phase !== "done") await vi.advanceTimersToNextTimerAsync();
  };
  const stop = async (): Promise<number> => {
    const stoppedAtMs = nowMs();
    runner.dispatch({ kind: "sigterm", nowMs: stoppedAtMs });
    while (exitedAtMs < 0) await vi.advanceTimersToNextTimerAsync();
    return exitedAtMs - stoppedAtMs;
  };
  return { drain, stop, deliveredReports };
}

test("the report at the manager's exit equals the report at the end of the drain, with the resets added", async () => {
  const { drain, stop, deliveredReports } = startManager({ report: () => RESETS }, 5);
  await drain();
  const [first] = deliveredReports;
  await stop();
  expect(deliveredReports).toEqual([first, { ...first, resets: RESETS }]);
  expect(first?.resets).toBeUndefined();
});

test("no report is sent at the manager's exit if the resets are unknown or no drain ran", async () => {
  const managerWithoutCounts = startManager({ report: () => undefined }, 5);
  await managerWithoutCounts.drain();
  await managerWithoutCounts.stop();
  expect(managerWithoutCounts.deliveredReports).toHaveLength(1);
  const idleManager = startManager({ report: () => RESETS }, 5);
  await idleManager.stop();
  expect(idleManager.deliveredReports).toEqual([]);
});

test("an unresponsive relay delays the manager's exit by 500 ms", async () => {
  const { drain, stop, deliveredReports } = startManager({ report: () => RESETS }, 60_000);
  await drain();
  expect(await stop()).toBe(500);
  expect(deliveredReports).toHaveLength(2);
});

test("the resets are counted before the apps' hooks are answered, and at the manager's exit", async () => {
  const calls: string[] = [];
  const { drain, stop } = startManager(
    {
      markTrigger: () => calls.push("trigger"),
      markRelease: () => calls.push("release"),
      report: () => {
        calls.push("report");
        return RESETS;
      },
    },
    5,
    () => calls.push("answer"),
  );
  await drain();
  expect(calls).toEqual(["trigger", "release", "answer"]);
  await stop();
  expect(calls).toEqual(["trigger", "release", "answer", "report"]);
});
