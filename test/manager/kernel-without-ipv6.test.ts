/** Tests the manager on a kernel without IPv6, simulated by a /proc without the IPv6 tables. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Build, describeBuilds } from "./builds.ts";
import { call, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";

const MOUNT = 'mount --bind "$0" /proc && exec "$@"';
const mountResult = spawnSync("unshare", ["-m", "sh", "-c", MOUNT, tmpdir(), "true"], { encoding: "utf8" });
if (mountResult.status !== 0) process.stdout.write(`skipped: no mounts of one's own here: ${mountResult.stderr}\n`);

afterAll(endManagers);

let procFolder = "";
beforeAll(() => {
  procFolder = mkdtempSync(`${tmpdir()}/lastcall-proc-`);
  mkdirSync(`${procFolder}/net`);
  for (const table of ["tcp", "udp", "snmp"])
    writeFileSync(`${procFolder}/net/${table}`, readFileSync(`/proc/net/${table}`));
});
afterAll(() => rmSync(procFolder, { recursive: true, force: true }));

const drainPodOf = async (build: Build): Promise<unknown> => {
  const wrapper = ["unshare", "-m", "sh", "-c", MOUNT, procFolder];
  const manager = await startManager({ build, wrapper, flags: ["--drain-delay=500ms", "--quiet-period=500ms"] });
  const app = await startApp(manager.address);
  const report = JSON.parse((await call(manager, `/${TOKEN}/drain`, "POST")).body);
  manager.kill("SIGKILL");
  await endApp(app);
  return report;
};

describeBuilds("on a kernel without IPv6", (build) => {
  test.skipIf(mountResult.status !== 0)(
    "a drain ends with outcome `drained` and reads the sockets over netlink",
    async () => {
      expect(await drainPodOf(build)).toMatchObject({ outcome: "drained", evidenceSource: "netlink" });
    },
  );
});
