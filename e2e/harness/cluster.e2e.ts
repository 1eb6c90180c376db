/** Tests the lifecycle of the test cluster: start, stop, and interruptions. `npm run e2e -- --harness` runs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { HOST_INTERFACE, PODS_CGROUP } from "../cluster/addresses.ts";
import { readRecord } from "../cluster/record.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { isAlive } from "../host/process-identity.ts";
import { type Attempt, attempt } from "../host/run.ts";
import { CGROUP_ROOT } from "../host/this-host.ts";
import { waitUntil } from "../host/wait.ts";

const MAIN = join(import.meta.dirname, "../main.ts");
const state = stateFolder();

function runClusterCommand(...args: readonly string[]): Promise<Attempt> {
  return attempt(process.execPath, [MAIN, ...args]);
}

/** Lists what a cluster left behind on the host; empty if the cluster was stopped completely. */
async function listLeftovers(): Promise<readonly string[]> {
  const link = (await attempt("ip", ["link", "show", HOST_INTERFACE])).status === 0 ? [HOST_INTERFACE] : [];
  const cgroups = readdirSync(CGROUP_ROOT)
    .map((controller) => join(CGROUP_ROOT, controller, PODS_CGROUP))
    .filter((folder) => existsSync(folder));
  const files = existsSync(state.root) ? [state.root] : [];
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(`${state.root}/`));
  return [...link, ...cgroups, ...files, ...mounts, ...listClusterProcesses()];
}

/** Lists processes that have the state folder, but not only its lock file, among their arguments. */
function listClusterProcesses(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      try {
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return commandLine.includes(`${state.root}/`) || commandLine.includes(`${state.root} `)
          ? [`${pid}: ${commandLine}`]
          : [];
      } catch {
        return [];
      }
    });
}

afterAll(async () => {
  await runClusterCommand("down");
});

describe("a test cluster", () => {
  test("is reused if it is running", async () => {
    expect((await runClusterCommand("up")).status).toBe(0);
    const first = readRecord(state.recordFile);
    const secondStart = await runClusterCommand("up");
    expect(secondStart).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("The cluster was already running."),
    });
    expect(readRecord(state.recordFile)).toEqual(first);
  });

  test("is not replaced if it has another version of Kubernetes", async () => {
    const otherStart = await runClusterCommand("up", "--kubernetes", "1.35");
    expect(otherStart).toMatchObject({ status: 1, stderr: expect.stringContaining('"npm run cluster -- down"') });
    expect((await runClusterCommand("status")).status).toBe(0);
  });

  test("does not leave a process, file or network device behind", async () => {
    expect((await runClusterCommand("down")).status).toBe(0);
    expect(await listLeftovers()).toEqual([]);
    expect((await runClusterCommand("status")).status).toBe(3);
  });

  test("starts once if two commands start it at the same time", async () => {
    const starts = await Promise.all([runClusterCommand("up"), runClusterCommand("up")]);
    expect(starts.map(({ status }) => status)).toEqual([0, 0]);
    expect(starts.filter(({ stderr }) => stderr.includes("The cluster was already running."))).toHaveLength(1);
    expect(
      listClusterProcesses().filter((line) => line.includes("namespace-init.sh") && line.includes("unshare")),
    ).toHaveLength(1);
  });

  test("is reported as broken if its first process was killed, and can be started again", async () => {
    expect((await runClusterCommand("up")).status).toBe(0);
    const record = readRecord(state.recordFile);
    if (record === undefined) throw new Error("the running cluster has no record");
    process.kill(record.init.pid, "SIGKILL");
    while (isAlive(record.outer)) await pause(20);
    const broken = await runClusterCommand("status");
    expect(broken).toMatchObject({ status: 3, output: expect.stringContaining("broken") });
    expect((await runClusterCommand("up")).status).toBe(0);
    expect((await runClusterCommand("down")).status).toBe(0);
    expect(await listLeftovers()).toEqual([]);
  });
});

test("a test cluster whose record is missing is found and stopped", async () => {
  expect((await runClusterCommand("up")).status).toBe(0);
  rmSync(state.recordFile);
  expect((await runClusterCommand("down")).status).toBe(0);
  expect(await listLeftovers()).toEqual([]);
});

describe("a test cluster whose start is killed", () => {
  // The times range from before the first process to after the start of the nodes.
  test.for([300, 600, 1_000, 1_500, 2_500, 4_000])(
    "after %i ms is removed completely by the command down",
    async (ms) => {
      const up = spawn(process.execPath, [MAIN, "up"], { stdio: "ignore" });
      await Promise.race([once(up, "close"), pause(ms)]);
      up.kill("SIGKILL");
      // No process survives, even without the command down.
      await waitUntil({ condition: "all processes have ended", withinMs: 10_000 }, () =>
        listClusterProcesses().length === 0 ? true : undefined,
      );
      expect((await runClusterCommand("down")).status).toBe(0);
      expect(await listLeftovers()).toEqual([]);
    },
  );

  test("can be started again", async () => {
    const up = spawn(process.execPath, [MAIN, "up"], { stdio: "ignore" });
    await pause(2_000);
    up.kill("SIGKILL");
    expect((await runClusterCommand("up")).status).toBe(0);
    expect((await runClusterCommand("down")).status).toBe(0);
    expect(await listLeftovers()).toEqual([]);
  });
});
