import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FLAG_SOCKET } from "../../src/manager/preload-flag.ts";
import { ownAddress } from "../leases/own-address.ts";
import { describeBuilds } from "../manager/builds.ts";
import { call, endManagers, type Manager, startManager, statusOf, TOKEN } from "../manager/manager-process.ts";
import { CLOSE_HEADER, openScenario, PORT, type PreloadScenario } from "./preload-scenario.ts";
import { hasProgram } from "./programs-here.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const BODY = "HTTP/1.1 200 OK\r\n\r\n";
const SERVER = join(import.meta.dirname, "servers/node-http.ts");
const CLIENTS = 5;
/** A user ID without other processes on this host, because the kernel counts descriptors in flight per user. */
const TEST_UID = 64_137;

if (process.getuid?.() !== 0)
  process.stdout.write(
    "the limit of descriptors in flight is not tested: only root can start programs of other users\n",
  );

test("the manager and the preload library use the same socket name", () => {
  const header = readFileSync(join(import.meta.dirname, "../../native/preload/flag.h"), "utf8");
  expect(header).toContain(`#define FLAG_SOCKET "${FLAG_SOCKET}"`);
});

describe.skipIf(!hasProgram("gcc"))("a manager with processes that load the preload library", () => {
  const address = ownAddress();
  let scenario: PreloadScenario;
  let manager: Manager;
  beforeAll(async () => {
    scenario = await openScenario({ socket: `${FLAG_SOCKET}/${address}` });
  });
  afterEach(async () => {
    manager.kill("SIGKILL");
    await Promise.all([manager.ended, scenario.endAll()]);
  });
  afterAll(() => {
    endManagers();
    return scenario.close();
  });

  describeBuilds("a manager with preload", (build) => {
    const flags = ["--preload=http1", "--drain-delay=500ms", "--quiet-period=500ms", `--drain-ports=${PORT}`];

    test("closes busy keep-alive connections after the drain delay, ends the drain when they are quiet, and reports their number", async () => {
      manager = await startManager({ build, address, flags });
      await scenario.start([process.execPath, SERVER, address, String(PORT)], address);
      const clients = await Promise.all(Array.from({ length: CLIENTS }, () => scenario.connect(address)));
      const closings = clients.map(async (client) => {
        let responseCount = 0;
        while (!(await client.request(GET, BODY)).includes(CLOSE_HEADER)) responseCount += 1;
        client.close();
        return responseCount;
      });
      const drained = await call(manager, `/${TOKEN}/drain`, "POST");
      const responses = await Promise.all(closings);
      expect(responses.every((count) => count > 0)).toBe(true);
      const report = JSON.parse(drained.body);
      expect(report).toMatchObject({ outcome: "drained", leftTotal: 0, preload: { connections: CLIENTS } });
      expect(report.preload.processes).toBeGreaterThan(0);
    });

    test("is detected by app processes whose previous manager was killed", async () => {
      manager = await startManager({ build, address, flags });
      await scenario.start([process.execPath, SERVER, address, String(PORT)], address);
      const client = await scenario.connect(address);
      await client.request(GET, BODY);
      manager.kill("SIGKILL");
      await manager.ended;
      manager = await startManager({ build, address, flags });
      await client.request(GET, BODY);
      const drained = call(manager, `/${TOKEN}/drain`, "POST");
      while (!(await client.request(GET, BODY)).includes(CLOSE_HEADER));
      client.close();
      expect(JSON.parse((await drained).body)).toMatchObject({ outcome: "drained", preload: { processes: 1 } });
    });

    test("closes connections after it was killed during a drain and restarted", async () => {
      manager = await startManager({ build, address, flags });
      await scenario.start([process.execPath, SERVER, address, String(PORT)], address);
      const [first, second] = await Promise.all([scenario.connect(address), scenario.connect(address)]);
      await second.request(GET, BODY);
      const drained = call(manager, `/${TOKEN}/drain`, "POST").catch(() => undefined);
      while (!(await first.request(GET, BODY)).includes(CLOSE_HEADER));
      manager.kill("SIGKILL");
      await Promise.all([manager.ended, drained]);
      manager = await startManager({ build, address, flags });
      expect(await second.request(GET, BODY)).toContain(CLOSE_HEADER);
    });

    test.skipIf(process.getuid?.() !== 0).for([
      { hardLimit: 20_000, page: "mode 0, ports, sealed", preload: { processes: 1, missed: 0 } },
      { hardLimit: 1_024, page: "no page", preload: { processes: 0, missed: 1 } },
    ])(
      "with 1,100 descriptors in flight and a hard limit of $hardLimit descriptors results in '$page' for a reader of its shared memory page",
      async ({ hardLimit, page, preload }) => {
        const asUserCommand = ["setpriv", `--reuid=${TEST_UID}`, `--regid=${TEST_UID}`, "--clear-groups"];
        const wrapper = ["prlimit", `--nofile=1024:${hardLimit}`, ...asUserCommand];
        manager = await startManager({ build, address, flags, wrapper });
        const flood = await scenario.startUntilOutput([...asUserCommand, scenario.compile("flood.c", "gcc"), "1100"]);
        expect(scenario.outputOf(scenario.compile("page-reader.c", "gcc"), `${FLAG_SOCKET}/${address}`)).toBe(page);
        expect(await statusOf(manager)).toMatchObject({ preload });
        flood.kill("SIGKILL");
      },
    );

    test("sends its shared memory page before and during a drain, and no receiver can write to the page", async () => {
      manager = await startManager({ build, address, flags });
      const reader = scenario.compile("page-reader.c", "gcc");
      expect(scenario.outputOf(reader, `${FLAG_SOCKET}/${address}`)).toBe("mode 0, ports, sealed");
      await scenario.start([process.execPath, SERVER, address, String(PORT)], address);
      await call(manager, `/${TOKEN}/drain`, "POST");
      expect(scenario.outputOf(reader, `${FLAG_SOCKET}/${address}`)).toBe(`mode 1, ports ${PORT}, sealed`);
      expect(await statusOf(manager)).toMatchObject({ preload: { processes: 3, connections: 0 } });
    });
  });

  describeBuilds("a manager without preload", (build) => {
    test("does not open a socket for the preload library, and its status omits `preload`", async () => {
      manager = await startManager({ build, address });
      expect(scenario.outputOf(scenario.compile("page-reader.c", "gcc"), `${FLAG_SOCKET}/${address}`)).toBe(
        "no manager",
      );
      expect(await statusOf(manager)).not.toHaveProperty("preload");
    });
  });
});
