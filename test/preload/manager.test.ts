import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FLAG_SOCKET } from "../../src/manager/preload-flag.ts";
import { ownAddress } from "../leases/own-address.ts";
import { describeBuilds } from "../manager/builds.ts";
import { call, endManagers, type Manager, startManager, statusOf, TOKEN } from "../manager/manager-process.ts";
import { hasProgram } from "./programs-here.ts";
import { FAREWELL, openScene, PORT, type Scene } from "./scene.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const BODY = "HTTP/1.1 200 OK\r\n\r\n";
const SERVER = join(import.meta.dirname, "servers/node-http.ts");
const CLIENTS = 5;
/** Of no other program on this host: the kernel counts by it. */
const USER = 64_137;

if (process.getuid?.() !== 0)
  process.stdout.write("descriptors that are under way are not tried: only root may start programs of other users\n");

test("the manager listens where the library asks", () => {
  const header = readFileSync(join(import.meta.dirname, "../../native/preload/flag.h"), "utf8");
  expect(header).toContain(`#define FLAG_SOCKET "${FLAG_SOCKET}"`);
});

describe.skipIf(!hasProgram("gcc"))("with the preloaded library", () => {
  const address = ownAddress();
  let scene: Scene;
  let manager: Manager;
  beforeAll(async () => {
    scene = await openScene({ socket: `${FLAG_SOCKET}/${address}` });
  });
  afterEach(async () => {
    manager.kill("SIGKILL");
    await Promise.all([manager.ended, scene.endAll()]);
  });
  afterAll(() => {
    endManagers();
    return scene.close();
  });

  describeBuilds("a manager whose Pod asked for it", (build) => {
    const flags = ["--preload=http1", "--drain-delay=500ms", "--quiet-period=500ms", `--drain-ports=${PORT}`];

    test("sends endless clients away once the delay is over, drains by quiet, and says how many were told", async () => {
      manager = await startManager({ build, address, flags });
      await scene.start([process.execPath, SERVER, address, String(PORT)], address);
      const clients = await Promise.all(Array.from({ length: CLIENTS }, () => scene.connect(address)));
      const untilTold = clients.map(async (client) => {
        let answers = 0;
        while (!(await client.ask(GET, BODY)).includes(FAREWELL)) answers += 1;
        client.close();
        return answers;
      });
      const drained = await call(manager, `/${TOKEN}/drain`, "POST");
      const answers = await Promise.all(untilTold);
      expect(answers.every((count) => count > 0)).toBe(true);
      const report = JSON.parse(drained.body);
      expect(report).toMatchObject({ outcome: "drained", leftTotal: 0, preload: { connections: CLIENTS } });
      expect(report.preload.processes).toBeGreaterThan(0);
    });

    test("is asked again by processes that knew one that was killed", async () => {
      manager = await startManager({ build, address, flags });
      await scene.start([process.execPath, SERVER, address, String(PORT)], address);
      const client = await scene.connect(address);
      await client.ask(GET, BODY);
      manager.kill("SIGKILL");
      await manager.ended;
      manager = await startManager({ build, address, flags });
      await client.ask(GET, BODY);
      const drained = call(manager, `/${TOKEN}/drain`, "POST");
      while (!(await client.ask(GET, BODY)).includes(FAREWELL));
      client.close();
      expect(JSON.parse((await drained).body)).toMatchObject({ outcome: "drained", preload: { processes: 1 } });
    });

    test("goes on sending clients away when it is killed in a drain, whatever is started in its place", async () => {
      manager = await startManager({ build, address, flags });
      await scene.start([process.execPath, SERVER, address, String(PORT)], address);
      const [first, second] = await Promise.all([scene.connect(address), scene.connect(address)]);
      await second.ask(GET, BODY);
      const drained = call(manager, `/${TOKEN}/drain`, "POST").catch(() => undefined);
      while (!(await first.ask(GET, BODY)).includes(FAREWELL));
      manager.kill("SIGKILL");
      await Promise.all([manager.ended, drained]);
      manager = await startManager({ build, address, flags });
      expect(await second.ask(GET, BODY)).toContain(FAREWELL);
    });

    test.skipIf(process.getuid?.() !== 0).for([
      { hardLimit: 20_000, pages: "mode 0, ports, sealed", preload: { processes: 1, missed: 0 } },
      { hardLimit: 1_024, pages: "no page", preload: { processes: 0, missed: 1 } },
    ])(
      "among processes of its user that keep 1,100 descriptors under way, with up to $hardLimit files: $pages",
      async ({ hardLimit, pages, preload }) => {
        const asUser = ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"];
        const limited = ["prlimit", `--nofile=1024:${hardLimit}`, ...asUser];
        manager = await startManager({ build, address, flags, wrapper: limited });
        const flood = await scene.floods([...asUser, scene.compile("flood.c", "gcc"), "1100"]);
        expect(scene.runs(scene.compile("page-reader.c", "gcc"), `${FLAG_SOCKET}/${address}`)).toBe(pages);
        expect(await statusOf(manager)).toMatchObject({ preload });
        flood.kill("SIGKILL");
      },
    );

    test("gives the page to processes of any time, and none of them can write to it", async () => {
      manager = await startManager({ build, address, flags });
      const asking = scene.compile("page-reader.c", "gcc");
      expect(scene.runs(asking, `${FLAG_SOCKET}/${address}`)).toBe("mode 0, ports, sealed");
      await scene.start([process.execPath, SERVER, address, String(PORT)], address);
      await call(manager, `/${TOKEN}/drain`, "POST");
      expect(scene.runs(asking, `${FLAG_SOCKET}/${address}`)).toBe(`mode 1, ports ${PORT}, sealed`);
      expect(await statusOf(manager)).toMatchObject({ preload: { processes: 3, connections: 0 } });
    });
  });

  describeBuilds("a manager whose Pod did not ask for it", (build) => {
    test("has no such socket and says nothing of it", async () => {
      manager = await startManager({ build, address });
      expect(scene.runs(scene.compile("page-reader.c", "gcc"), `${FLAG_SOCKET}/${address}`)).toBe("no manager");
      expect(await statusOf(manager)).not.toHaveProperty("preload");
    });
  });
});
