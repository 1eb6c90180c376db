/** Tests drains whose samples fail because the sockets cannot be read, or cannot be read completely. */
import { expect, test } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/drain-settings.ts";
import { createDriver } from "../../src/manager/manager-driver.ts";
import { NO_PRELOAD } from "../../src/manager/preload-flag.ts";
import { NO_RELAY } from "../../src/manager/relay/relay-client.ts";
import { createRunner } from "../../src/manager/runner.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import { createProcessWatch } from "../../src/manager/traffic/other-processes.ts";
import { NO_RESET_COUNTER } from "../../src/manager/traffic/resets.ts";
import { createTrafficMonitor } from "../../src/manager/traffic/traffic-monitor.ts";
import { eventually } from "../time/eventually.ts";
import { playback } from "./netlink-room.ts";

/** More than the ten failed samples after which a drain ends with the outcome `blind`. */
const SAMPLE_COUNT = 13;

async function reportAfterFailedSamples(isIncomplete: boolean): Promise<DrainReport> {
  let sampleCount = 0;
  let hasExited = false;
  const settings = { ...DEFAULT_SETTINGS, drainDelayMs: 0 };
  const nowMs = () => performance.now();
  const runner = createRunner({
    ...{
      settings,
      logSource: { pod: "", namespace: "" },
      chainedHooks: [],
      nowMs,
      relay: NO_RELAY,
      preloadFlag: NO_PRELOAD,
    },
    readSockets: (_tracesMs, visitor) => {
      sampleCount += 1;
      if (isIncomplete) visitor.onIncomplete();
      return undefined;
    },
    monitor: createTrafficMonitor(settings, createConnectionMemory(Math.random)),
    resets: NO_RESET_COUNTER,
    processes: createProcessWatch(settings.port, { address: "", port: 0 }),
    driver: createDriver(settings, playback({}).libc, () => undefined),
    acceptedCount: () => 0,
    respond: () => undefined,
    log: () => undefined,
    exit: () => {
      hasExited = true;
    },
  });
  runner.dispatch({ kind: "drain-requested", nowMs: nowMs(), holdId: 1 });
  const report = await eventually((): DrainReport => {
    const report: DrainReport = JSON.parse(runner.status());
    if (sampleCount < SAMPLE_COUNT) expect(report.phase).toBe("done");
    return report;
  });
  runner.dispatch({ kind: "sigterm", nowMs: nowMs() });
  await eventually(() => expect(hasExited).toBe(true));
  return report;
}

test("a drain ends with outcome `blind` if no source of sockets can be read", async () => {
  expect(await reportAfterFailedSamples(false)).toMatchObject({
    phase: "done",
    outcome: "blind",
    evidenceSource: "none",
  });
});

test("a drain continues if all samples are incomplete", async () => {
  expect(await reportAfterFailedSamples(true)).toMatchObject({ phase: "draining", outcome: "none" });
});
