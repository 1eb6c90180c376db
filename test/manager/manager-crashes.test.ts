/** Tests drains while the manager is killed, overloaded or without resources: one test for each row of docs/manager-crashes.md. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";
import { describeBuilds, NATIVE_BUILD } from "./builds.ts";
import { endRelays, startRelay } from "./fake-relay.ts";
import {
  call,
  dial,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  run,
  startApp,
  startManager,
  statusOf,
  TOKEN,
  untilClosed,
} from "./manager-process.ts";
import { countOpenSockets, cpuMs } from "./process-load.ts";
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

afterAll(endManagers);
afterAll(endRelays);

const LONG_DRAIN_FLAGS = ["--drain-delay=50s", "--hooks=app:app,other:app"];
const SHORT_DRAIN_FLAGS = ["--drain-delay=500ms", "--quiet-period=500ms", "--hooks=app:app"];

const isWithdrawingLine = (line: Record<string, unknown>) => line["phase"] === "withdrawing";

async function openConnections(manager: Manager, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => dial(manager).catch(() => undefined)));
  return sockets.flatMap((socket) => {
    socket?.on("error", () => {});
    socket?.resume();
    return socket === undefined ? [] : [socket];
  });
}

/** @returns the limit of open files with which the process can open `freeCount` more files */
function fileLimitWith(freeCount: number, pid: number): number {
  const usedDescriptors = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let limit = 0;
  for (let unusedCount = 0; unusedCount < freeCount; limit += 1) if (!usedDescriptors.has(limit)) unusedCount += 1;
  return limit;
}

/** Drains an idle Pod, which proves that the manager works. */
async function drainOutcome(manager: Manager): Promise<unknown> {
  const hookCall = call(manager, hookPath());
  const drainResponse = await call(manager, `/${TOKEN}/drain`, "POST");
  expect((await hookCall).status).toBe(200);
  return JSON.parse(drainResponse.body).outcome;
}

describeBuilds("a manager that gets SIGKILL or SIGSTOP", (build) => {
  test.concurrent("closes the connections of its own hook and the app's hook if SIGKILL ends it during a drain", async () => {
    const manager = await startManager({ build, flags: LONG_DRAIN_FLAGS });
    const app = await startApp(manager.address);
    const drainCommand = run(["drain", `--address-scope=${manager.address}`], {}, build);
    await manager.untilLogged(isWithdrawingLine);
    const hookCall = call(manager, hookPath()).then(
      () => "answered",
      (error: NodeJS.ErrnoException) => error.code,
    );
    await pause(300, "the hook reaches the manager");
    manager.kill("SIGKILL");
    expect(await hookCall).toBe("ECONNRESET");
    const end = await drainCommand;
    expect(end).toMatchObject({ code: 4, stdout: "" });
    expect(end.stderr).toContain("exited, hangs or has a different LASTCALL_TOKEN than this command");
    await expect(call(manager, hookPath("other"))).rejects.toThrow("ECONNREFUSED");
    await endApp(app);
  });

  test.concurrent("is replaced by a manager that treats a late hook as a container restart and drains at the next trigger", async () => {
    const firstManager = await startManager({ build, flags: LONG_DRAIN_FLAGS });
    const { address } = firstManager;
    const app = await startApp(address);
    void call(firstManager, `/${TOKEN}/drain`, "POST").catch(() => {});
    await firstManager.untilLogged(isWithdrawingLine);
    firstManager.kill("SIGKILL");
    await firstManager.ended;
    const secondManager = await startManager({
      build,
      address,
      flags: [...SHORT_DRAIN_FLAGS.slice(0, 2), "--hooks=app:app,other:app"],
    });
    expect(await statusOf(secondManager)).toMatchObject({ phase: "idle", outcome: "none" });
    const lateResponse = await call(secondManager, hookPath());
    expect(JSON.parse(lateResponse.body)).toMatchObject({ outcome: "restarted" });
    const hookCalls = [call(secondManager, hookPath()), call(secondManager, hookPath("other"))];
    const responses = await Promise.all([...hookCalls, call(secondManager, `/${TOKEN}/drain`, "POST")]);
    for (const { body } of responses) expect(JSON.parse(body)).toMatchObject({ trigger: "hook", outcome: "drained" });
    secondManager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("does not block the drain command if SIGSTOP stopped it before the call", async () => {
    const manager = await startManager({ build, flags: LONG_DRAIN_FLAGS });
    manager.kill("SIGSTOP");
    const end = await run(["drain", `--address-scope=${manager.address}`], {}, build);
    expect(end.code).toBe(4);
    expect(end.stderr).toContain("the manager did not respond to the request");
    manager.kill("SIGKILL");
  });
});

describeBuilds("a manager with an unread log", (build) => {
  test("delays and answers hooks while the log's pipe is full", async () => {
    const address = ownAddress();
    const folder = mkdtempSync(`${tmpdir()}/lastcall-pipe-`);
    execFileSync("mkfifo", [`${folder}/log`]);
    // A pipe of 64 KiB, filled except for its last 4 KiB.
    const pipe = openSync(`${folder}/log`, "r+");
    writeSync(pipe, Buffer.alloc(61_440));
    const args = [...build.args, "serve", `--address-scope=${address}`, ...SHORT_DRAIN_FLAGS];
    const child = spawn(build.command, args, { env: { LASTCALL_TOKEN: TOKEN }, stdio: ["ignore", pipe, "inherit"] });
    onTestFinished(() => {
      child.kill("SIGKILL");
      closeSync(pipe);
      rmSync(folder, { recursive: true });
    });
    const manager = { address };
    await eventually(async () => expect((await call(manager, `/${TOKEN}/status`)).status).toBe(200));
    const app = await startApp(address);
    for (let round = 0; round < 30; round += 1) {
      const calls = [call(manager, hookPath()), call(manager, `/${TOKEN}/drain`, "POST")];
      for (const response of await Promise.all(calls)) expect(response.status).toBe(200);
    }
    await endApp(app);
  });
});

describeBuilds("a manager with too many connections", (build) => {
  test.concurrent("keeps at most 256 of 1000 unauthenticated connections, each for two seconds, and answers every hook", async () => {
    const manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD, flags: SHORT_DRAIN_FLAGS });
    const app = await startApp(manager.address);
    const socketsBefore = countOpenSockets(manager.pid);
    const sockets = await openConnections(manager, 1_000);
    expect(sockets.length).toBe(1_000);
    await statusOf(manager);
    await eventually(() => expect(countOpenSockets(manager.pid) - socketsBefore).toBeLessThanOrEqual(256 + 2));
    expect(await drainOutcome(manager)).toBe("drained");
    await Promise.all(sockets.map((socket) => (socket.destroyed ? undefined : untilClosed(socket))));
    // The manager may close its socket later than the client detects the end of the connection.
    await eventually(() => expect(countOpenSockets(manager.pid)).toBeLessThanOrEqual(socketsBefore + 1));
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("closes the connections of clients that do not read their responses", async () => {
    const manager = await startManager({ build, flags: SHORT_DRAIN_FLAGS });
    const socketsBefore = countOpenSockets(manager.pid);
    const sockets: Socket[] = [];
    for (let count = 0; count < 100; count += 1) {
      const socket = await dial(manager);
      socket.on("error", () => {});
      socket.pause();
      socket.write(`GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\n\r\n`);
      sockets.push(socket);
    }
    // These clients never close their connections, so it is the manager that closed them.
    await eventually(() => expect(countOpenSockets(manager.pid)).toBeLessThanOrEqual(socketsBefore + 1));
    expect(await statusOf(manager)).toMatchObject({ phase: "idle" });
    for (const socket of sockets) socket.destroy();
    manager.kill("SIGKILL");
  });
});

// Limits of memory and files are tested only with the native build, which is the released one.
describeBuilds(
  "a manager at a resource limit",
  (build) => {
    test.concurrent("leaves clients in the backlog while no file descriptor is free, and answers these clients later", async () => {
      const wrapper = [...WITHOUT_PORT_GUARD, "prlimit", "--nofile=40", "--"];
      const manager = await startManager({ build, wrapper, flags: SHORT_DRAIN_FLAGS });
      const app = await startApp(manager.address);
      const sockets = await openConnections(manager, 200);
      // The wall time encloses both readings of the CPU time, because the test may be preempted in between.
      const startedMs = performance.now();
      const cpuBeforeMs = cpuMs(manager.pid);
      expect(await statusOf(manager)).toMatchObject({ version: 1 });
      const usedMs = cpuMs(manager.pid) - cpuBeforeMs;
      const elapsedMs = performance.now() - startedMs;
      // While no descriptor is free, the native build polls until it closes unauthenticated connections. Polling uses one core at most.
      expect(usedMs).toBeLessThanOrEqual(elapsedMs + 100); // bound: CPU time, compared with the elapsed time
      for (const socket of sockets) socket.destroy();
      expect(await drainOutcome(manager)).toBe("drained");
      const idleCpuMs = cpuMs(manager.pid);
      await pause(1_000, "idle time, whose CPU time is measured");
      expect(cpuMs(manager.pid) - idleCpuMs).toBeLessThan(500); // bound: CPU time, which other programs do not lengthen
      manager.kill("SIGKILL");
      await endApp(app);
    });

    test.concurrent("drains after its delay and reports the failure if it has too few file descriptors for the relay's client", async () => {
      const relay = await startRelay();
      // The calls need two descriptors. The remaining descriptors do not suffice for the relay client's pipes or its process.
      for (const free of [3, 4, 5, 6]) {
        const manager = await startManager({ build, env: relay.env, flags: SHORT_DRAIN_FLAGS });
        const app = await startApp(manager.address);
        const limit = fileLimitWith(free, manager.pid);
        execFileSync("prlimit", ["--pid", String(manager.pid), `--nofile=${limit}:${limit}`]);
        const report = JSON.parse((await call(manager, `/${TOKEN}/drain`, "POST")).body);
        expect(report).toMatchObject({ outcome: "drained", relay: expect.stringMatching(/^unknown: .*EMFILE$/) });
        expect(await statusOf(manager)).toMatchObject({ phase: "done" });
        manager.kill("SIGKILL");
        await endApp(app);
      }
    });

    test.concurrent("answers the hooks at the deadline if it does not have a file descriptor for its samples", async () => {
      const manager = await startManager({ build, flags: [...SHORT_DRAIN_FLAGS, "--drain-timeout=1s"] });
      const app = await startApp(manager.address);
      // The call below needs the free descriptor, so the samples do not get one.
      const limit = fileLimitWith(1, manager.pid);
      execFileSync("prlimit", ["--pid", String(manager.pid), `--nofile=${limit}:${limit}`]);
      const report = JSON.parse((await call(manager, `/${TOKEN}/drain`, "POST")).body);
      expect(report).toMatchObject({
        outcome: "timeout",
        evidenceSource: "none",
        why: expect.stringContaining("observed"),
      });
      manager.kill("SIGKILL");
      await endApp(app);
    });

    test.concurrent("exits with a message if it cannot allocate memory", async () => {
      const manager = await startManager({
        build,
        wrapper: ["prlimit", "--as=4000000", "--"],
        flags: LONG_DRAIN_FLAGS,
      });
      let hasEnded = false;
      void manager.ended.then(() => {
        hasEnded = true;
      });
      const sockets: Socket[] = [];
      // The manager discards unterminated headers after two seconds, so a single batch of connections might not fill the memory.
      while (!hasEnded) {
        const batch = await openConnections(manager, 200);
        for (const socket of batch) socket.write(`GET /${TOKEN}/ HTTP/1.1\r\nA: ${"a".repeat(60_000)}`);
        sockets.push(...batch);
        await Promise.race([manager.ended, pause(500, "between two batches of connections")]);
      }
      const end = await manager.ended;
      expect(end.stderr).toContain("out of memory");
      expect(end.code).not.toBe(0);
      for (const socket of sockets) socket.destroy();
    });
  },
  [NATIVE_BUILD],
);
