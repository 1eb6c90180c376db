/** Tests drains with Envoy's admin interface on a Unix socket, as in Contour, on the manager's Node and native builds. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy/envoy-driver.ts";
import { httpStreamWith } from "../../src/manager/manager-driver.ts";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ONE_APP } from "./drain-script.ts";
import { type FakeEnvoy, listenerLines, startFakeEnvoy } from "./fake-envoy.ts";
import {
  call,
  dial,
  endApp,
  endManagers,
  type Manager,
  type StartOptions,
  startApp,
  startManager,
  TOKEN,
} from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-socket-"));
const cleanups: (() => unknown)[] = [];

afterAll(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  endManagers();
  rmSync(folder, { recursive: true, force: true });
});

let socketCount = 0;

function socketPath(): string {
  socketCount += 1;
  return join(folder, `${process.pid}-${socketCount}.sock`);
}

const FAIL_HEALTH_CHECK = "POST /healthcheck/fail";
const DRAIN_LISTENERS = "POST /drain_listeners?graceful&skip_exit";

/** Command prefix that runs a program as a user who does not own files on this host. */
const AS_USER_65534 = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];

describeOnClock("an Envoy with a Unix socket as admin interface", (build) => {
  async function startPod(
    clock: TestClock,
    path: string,
    options: Partial<StartOptions> = {},
    timeout = "20s",
  ): Promise<Manager> {
    const flags = ["--drain-delay=1s", "--quiet-period=500ms", `--drain-timeout=${timeout}`, "--hooks=app:app"];
    const allFlags = [...flags, "--driver=envoy", `--driver-url=unix:${path}`];
    const manager = await startManager({ build, clock, flags: allFlags, ...options });
    const app = await startApp(manager.address, 8_080, clock);
    cleanups.push(async () => {
      await endApp(app);
      manager.kill("SIGKILL");
      await manager.ended;
    });
    return manager;
  }

  async function startEnvoy(path: string): Promise<FakeEnvoy> {
    const envoy = await startFakeEnvoy(path);
    cleanups.push(() => envoy.stop());
    return envoy;
  }

  async function drainPod(manager: Manager): Promise<{ outcome: string; why: string }> {
    const response = await call(manager, `/${TOKEN}/drain`, "POST");
    expect(response.status).toBe(200);
    return JSON.parse(response.body);
  }

  const logMessages = (manager: Manager) => manager.lines().map((line) => `${line["message"]}: ${line["detail"]}`);

  test.concurrent(
    "gets the drain request, and the drain lasts until no request is active",
    onClock(async (clock) => {
      const path = socketPath();
      const envoy = await startEnvoy(path);
      const manager = await startPod(clock, path);
      let hasEnded = false;
      const busyListener = { connections: 1, http: { prefix: "web", requests: 1 } };
      envoy.stats = () => listenerLines("0.0.0.0_8080", hasEnded ? undefined : busyListener);
      const end = drainPod(manager);
      await clock.until(() => envoy.calls.length >= 2);
      // This wait is longer than the quiet period, so only the active request still delays the drain's end.
      await clock.wait(1_000);
      hasEnded = true;
      const requestEndMs = clock.nowMs();
      expect(await end).toMatchObject({ outcome: "drained" });
      expect(clock.nowMs() - requestEndMs).toBeGreaterThanOrEqual(500);
      expect(envoy.calls).toEqual([FAIL_HEALTH_CHECK, DRAIN_LISTENERS]);
      expect(logMessages(manager).join("\n")).not.toContain("driver cannot count");
    }),
  );

  test.concurrent(
    "is replaced by samples of sockets if the socket does not exist, and the log contains the reason",
    onClock(async (clock) => {
      const path = socketPath();
      const manager = await startPod(clock, path);
      const end = await drainPod(manager);
      expect(end.outcome).toBe("drained");
      expect(logMessages(manager).join("\n")).toContain(
        `samples of the sockets determine the end of the drain: Envoy's admin interface is unreachable: ${path} does not exist, or its directory`,
      );
    }),
  );

  test.concurrent(
    "is replaced by samples of sockets if no program listens on the socket",
    onClock(async (clock) => {
      const path = socketPath();
      // Node removes the socket file when the server closes, but not if SIGKILL ends the process.
      const programSource = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
      spawnSync(process.execPath, ["-e", programSource]);
      const manager = await startPod(clock, path);
      expect(await drainPod(manager)).toMatchObject({ outcome: "drained" });
      expect(logMessages(manager).join("\n")).toContain(`is unreachable: no program listens on ${path}`);
    }),
  );

  test.skipIf(process.getuid?.() !== 0).concurrent(
    "is reported in the log as unreachable if the manager's user may not write to the socket",
    onClock(async (clock) => {
      const path = socketPath();
      const envoy = await startEnvoy(path);
      chmodSync(folder, 0o755);
      chmodSync(path, 0o755);
      const manager = await startPod(clock, path, { wrapper: AS_USER_65534 });
      const end = await drainPod(manager);
      expect(end.outcome).toBe("drained");
      const reason = `${path} is not writable for the manager's user, so it cannot connect`;
      expect(logMessages(manager).join("\n")).toContain(
        `samples of the sockets determine the end of the drain: Envoy's admin interface is unreachable: ${reason}`,
      );
      expect(envoy.calls).toEqual([]);
    }),
  );

  test.concurrent(
    "that accepts connections and never responds delays the drain until the deadline",
    onClock(async (clock) => {
      const path = socketPath();
      const envoy = await startEnvoy(path);
      envoy.defaultFault = "hang";
      const manager = await startPod(clock, path, {}, "4s");
      const end = await drainPod(manager);
      expect(end.outcome).toBe("timeout");
      expect(end.why).toContain("the last count of active requests failed");
    }),
  );

  test.concurrent(
    "that never accepts a connection does not delay the manager's responses to its own callers",
    onClock(async (clock) => {
      const path = socketPath();
      const stuckServer = await listenWithoutReading(path);
      cleanups.push(() => stuckServer.close());
      const manager = await startPod(clock, path, {}, "4s");
      const end = drainPod(manager);
      // Waits until the driver's request hangs.
      await clock.wait(1_500);
      for (let n = 0; n < 5; n += 1) {
        const response = await call(manager, `/${TOKEN}/status`);
        expect(response.status).toBe(200);
      }
      expect(await end).toMatchObject({ outcome: "timeout" });
    }),
  );

  test.concurrent(
    "that interrupts its response gets the request again",
    onClock(async (clock) => {
      const path = socketPath();
      const envoy = await startEnvoy(path);
      envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web" } });
      const manager = await startPod(clock, path);
      const client = await dial(manager, 8_080);
      envoy.faults.push("refuse", 503, "refuse");
      const end = await drainPod(manager);
      client.destroy();
      expect(end.outcome).toBe("drained");
      expect(envoy.health).toBe("failed");
      expect(envoy.isDraining).toBe(true);
    }),
  );

  test.concurrent(
    "whose statistics contain a thousand listeners is read completely",
    onClock(async (clock) => {
      const path = socketPath();
      const envoy = await startEnvoy(path);
      const manager = await startPod(clock, path, {}, "3s");
      const trafficOf = (n: number) => ({ connections: 1, http: { prefix: `web-${n}`, requests: n === 999 ? 1 : 0 } });
      const lines = Array.from({ length: 1_000 }, (_, n) =>
        listenerLines(`0.0.0.0_${20_000 + n}`, trafficOf(n)),
      ).flat();
      envoy.stats = () => lines;
      const end = await drainPod(manager);
      expect(end).toMatchObject({ outcome: "timeout", why: expect.stringContaining("1 active request") });
    }),
  );
});

describe("requests over a Unix socket", () => {
  test("are not among the manager's TCP connections", async () => {
    const envoy = await startUnitEnvoy();
    const driver = createEnvoyDriver(
      { ...ONE_APP, driver: "envoy", driverUrl: envoy.url },
      httpStreamWith(loadNodeLibc()),
      () => {},
    );
    expect(await new Promise((done) => driver.countActive(done))).toBe(0);
    expect(await new Promise((done) => driver.startDrain(done))).toBe("");
    expect(driver.dialCount()).toBe(0);
    expect(envoy.calls).toEqual([FAIL_HEALTH_CHECK, DRAIN_LISTENERS]);
  });

  test("fail with a message if the C library cannot be loaded", async () => {
    const envoy = await startUnitEnvoy();
    const libc = { ...loadNodeLibc(), available: false };
    const driver = createEnvoyDriver(
      { ...ONE_APP, driver: "envoy", driverUrl: envoy.url },
      httpStreamWith(libc),
      () => {},
    );
    expect(await new Promise((done) => driver.startDrain(done))).toContain("Unix sockets are not available");
  });

  async function startUnitEnvoy(): Promise<FakeEnvoy> {
    const envoy = await startFakeEnvoy(socketPath());
    cleanups.push(() => envoy.stop());
    return envoy;
  }
});

async function listenWithoutReading(path: string): Promise<Server> {
  const openSockets: Socket[] = [];
  const server = createServer((socket) => {
    openSockets.push(socket);
    socket.pause();
    socket.on("error", () => socket.destroy());
  });
  server.on("close", () => {
    for (const socket of openSockets) socket.destroy();
  });
  await new Promise<void>((done) => server.listen(path, done));
  return server;
}
