/** Compares the manager's Node and native builds in one Pod with 20 000 connections of external clients, over IPv4 and IPv6. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCrowdManager } from "../../bench/crowd-drain.ts";
import { type CrowdPod, crowdSkipReason, startCrowdPod } from "../../bench/crowd-pod.ts";
import { eventually } from "../time/eventually.ts";
import { type Build, NATIVE_BUILD, NODE_BUILD } from "./builds.ts";
import { cgroupSkipReason, openCgroup } from "./in-cgroup.ts";

const CONNECTION_COUNT = 20_000;
/** The manager's memory limit in a Pod of the QoS class Guaranteed. */
const LIMITS = { memoryMib: 16 };
/** A connection needs ten words and two hash slots, each of 32 bits. With an object per connection the peak was 11 MiB. */
const MAX_PEAK_KIB = 4 * 1_024;

const FLAGS = ["--drain-delay=1s", "--drain-timeout=90s", "--quiet-period=1s"];

const skipReason = NATIVE_BUILD.command === "" ? "the native build is missing" : crowdSkipReason();
if (skipReason !== "") process.stdout.write(`skipped: no crowd of connections here: ${skipReason}\n`);

let folder = "";
let pod: CrowdPod;
beforeAll(async () => {
  if (skipReason !== "") return;
  folder = mkdtempSync(join(tmpdir(), "lastcall-crowd-"));
  pod = await startCrowdPod(folder);
  await pod.open("mixed", CONNECTION_COUNT);
}, 120_000);
afterAll(async () => {
  if (skipReason !== "") return;
  await pod.end();
  rmSync(folder, { recursive: true });
}, 120_000);

test.skipIf(skipReason !== "")(
  "both builds drain a Pod of 20 000 connections equally, the native build within its memory limit",
  { timeout: 120_000 },
  async () => {
    const noLimitReason = cgroupSkipReason(LIMITS);
    if (noLimitReason !== "") process.stdout.write(`the manager's memory is not bounded: ${noLimitReason}\n`);
    const cgroup = noLimitReason === "" ? openCgroup(LIMITS) : undefined;
    const startManager = (build: Build, port: number, wrapper: readonly string[]) =>
      startCrowdManager(pod, { command: [build.command, ...build.args], port, flags: FLAGS, wrapper });
    const native = await startManager(NATIVE_BUILD, 17_890, cgroup?.wrapper ?? []);
    const node = await startManager(NODE_BUILD, 17_891, []);
    try {
      const drains = Promise.all([native.drain(), node.drain()]);
      let hasEnded = false;
      void drains.finally(() => {
        hasEnded = true;
      });
      // With so many connections, samples are seconds apart. A third of the clients waits for a response, so the drain continues
      // during several samples, which use this CPU time.
      const cpuBeforeMs = native.readCost().cpuMs;
      await eventually(() => expect(hasEnded || native.readCost().cpuMs >= cpuBeforeMs + 200).toBe(true));
      expect(hasEnded).toBe(false);
      await pod.closeBusy();
      const reports = (await drains).map(({ outcome, evidenceSource, leftTotal, untracked, left }) => {
        return { outcome, evidenceSource, leftTotal, untracked, named: left.length };
      });
      expect(reports[1]).toEqual(reports[0]);
      expect(reports[0]).toMatchObject({
        outcome: "drained",
        evidenceSource: "netlink",
        leftTotal: 2 * Math.floor(CONNECTION_COUNT / 3),
      });
      expect(native.readCost().peakKiB).toBeLessThan(MAX_PEAK_KIB);
    } finally {
      await native.end();
      await node.end();
      await cgroup?.close();
    }
  },
);
