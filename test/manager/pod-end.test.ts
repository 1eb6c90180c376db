/** Tests the manager at the termination of its Pod and at restarts of containers. */
import { createServer } from "node:net";
import { afterAll, expect, test } from "vitest";
import { listenOnOwnPort } from "../leases/own-port.ts";
import {
  call,
  dial,
  endApp,
  endManagers,
  hookPath,
  run,
  startApp,
  startManager,
  statusOf,
  TOKEN,
} from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

afterAll(endManagers);

/** @returns a port on which no program listens until this process ends */
async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listenOnOwnPort(server, "127.0.0.1");
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const SHORT_DRAIN_FLAGS = ["--drain-delay=500ms", "--quiet-period=500ms", "--hooks=app:app"];
const isPhaseLine = (name: string) => (line: Record<string, unknown>) =>
  line["message"] === "drain phase" && line["phase"] === name;

describeOnClock("the drain of a terminating Pod", (build) => {
  test.concurrent(
    "delays the answers to the app's hook and the manager's own hook, and the manager exits at SIGTERM",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock });
      const app = await startApp(manager.address, 8_080, clock);
      const drainCommand = run(["drain", `--address-scope=${manager.address}`], {}, build, clock);
      await manager.untilLogged(isPhaseLine("withdrawing"));
      const [response, commandResult] = await Promise.all([call(manager, hookPath()), drainCommand]);
      expect(commandResult.code).toBe(0);
      const report = JSON.parse(commandResult.stdout);
      expect(report).toMatchObject({ phase: "done", outcome: "drained", trigger: "hook" });
      expect(report.milliseconds.withdrawing).toBe(500);
      expect(response).toMatchObject({ status: 200, isClosing: true });
      expect(JSON.parse(response.body)).toMatchObject({ phase: "done", outcome: "drained" });
      manager.kill("SIGTERM");
      expect((await manager.ended).code).toBe(0);
      const phases = manager.lines().flatMap((line) => (line["message"] === "drain phase" ? [line["phase"]] : []));
      expect(phases).toEqual(["withdrawing", "draining", "holding", "done"]);
      // In a shared network namespace the counters of resets include other programs, so the manager does not send a second report.
      expect(manager.lines().filter((line) => line["message"] === "drain report")).toHaveLength(1);
      await endApp(app);
    }),
  );

  test.concurrent(
    "lasts until an active request is answered",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock });
      const app = await startApp(manager.address, 8_080, clock);
      let answeredMs = 0;
      const slowRequest = app.sendSlowRequest(3_000).then(() => {
        answeredMs = clock.nowMs();
      });
      await clock.wait(200);
      const hookCall = call(manager, hookPath());
      await call(manager, `/${TOKEN}/drain`, "POST");
      const releasedMs = clock.nowMs();
      await Promise.all([hookCall, slowRequest]);
      expect(releasedMs - answeredMs).toBeGreaterThanOrEqual(500);
      expect(await statusOf(manager)).toMatchObject({ outcome: "drained" });
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );

  test.concurrent(
    "reports, before and at the deadline, the connection that stays open",
    onClock(async (clock) => {
      const manager = await startManager({
        build,
        clock,
        flags: ["--drain-delay=300ms", "--quiet-period=5s", "--drain-timeout=1s", "--hooks=app:app"],
      });
      const app = await startApp(manager.address, 8_080, clock);
      const slowRequest = app.sendSlowRequest(8_000).catch(() => {});
      await clock.wait(200);
      const drainCall = call(manager, `/${TOKEN}/drain`, "POST");
      await clock.wait(600);
      const runningStatus = await statusOf(manager);
      expect(runningStatus).toMatchObject({ phase: "draining", outcome: "none", leftTotal: 1 });
      expect(runningStatus["why"]).toMatch(
        /^Still draining, for at most [0-9]+ms more, with 1 connection still open: .+ to port 8080/,
      );
      await drainCall;
      const report = await statusOf(manager);
      expect(report).toMatchObject({ outcome: "timeout", leftTotal: 1 });
      expect(report["why"]).toContain("to port 8080");
      manager.kill("SIGKILL");
      await endApp(app);
      await slowRequest;
    }),
  );

  test.concurrent(
    "continues if the reader of the manager's log stops",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock });
      const app = await startApp(manager.address, 8_080, clock);
      manager.closeLog();
      const hookCall = call(manager, hookPath());
      const response = await call(manager, `/${TOKEN}/drain`, "POST");
      expect(JSON.parse(response.body)).toMatchObject({ outcome: "drained" });
      expect((await hookCall).status).toBe(200);
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );

  test.concurrent(
    "uses samples of sockets if the driver is not in the build",
    onClock(async (clock) => {
      const flags = ["--drain-delay=300ms", "--quiet-period=300ms", "--drain-timeout=5s", "--hooks=app:app"];
      const manager = await startManager({
        build,
        clock,
        flags: [...flags, "--driver=linkerd", "--drained-when=requests"],
      });
      const app = await startApp(manager.address, 8_080, clock);
      const response = await call(manager, `/${TOKEN}/drain`, "POST");
      expect(JSON.parse(response.body)).toMatchObject({ outcome: "drained" });
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );

  test.concurrent(
    "continues if every caller of a hook has disconnected",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock });
      const app = await startApp(manager.address, 8_080, clock);
      for (const [method, path] of [
        ["GET", hookPath()],
        ["POST", `/${TOKEN}/drain`],
      ]) {
        const socket = await dial(manager);
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
        // The response proves that the manager has read the call above.
        await statusOf(manager);
        socket.resetAndDestroy();
      }
      await manager.untilLogged(isPhaseLine("done"));
      expect(await statusOf(manager)).toMatchObject({ outcome: "drained", trigger: "hook" });
      const lateResponse = await call(manager, hookPath());
      expect(lateResponse.status).toBe(200);
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );

  test.concurrent(
    "ends immediately if the Pod does not have a listener",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock, flags: ["--drain-delay=30s", "--hooks=app:app"] });
      const commandResult = await run(["drain", `--address-scope=${manager.address}`], {}, build, clock);
      expect(JSON.parse(commandResult.stdout)).toMatchObject({ outcome: "not-needed" });
      manager.kill("SIGKILL");
    }),
  );

  test.concurrent(
    "ends after two seconds if the Pod runs to completion and no app's hook is called",
    onClock(async (clock) => {
      const manager = await startManager({
        build,
        clock,
        flags: ["--drain-delay=30s", "--completes", "--hooks=app:app"],
      });
      const sidecar = await startApp(manager.address, 8_080, clock);
      const startedMs = clock.nowMs();
      const commandResult = await run(["drain", `--address-scope=${manager.address}`], {}, build, clock);
      expect(JSON.parse(commandResult.stdout)).toMatchObject({ outcome: "not-needed" });
      expect(clock.nowMs() - startedMs).toBe(2_000);
      manager.kill("SIGKILL");
      await endApp(sidecar);
    }),
  );

  test.concurrent(
    "includes the container's original hook, which runs before the response to the kubelet",
    onClock(async (clock) => {
      // The manager calls the app's original hook on 127.0.0.1, as it does inside a Pod.
      const localApp = await startApp("127.0.0.1", 0, clock);
      const httpHeaders = [{ name: "X-Reason", value: "stop" }];
      let reason: unknown;
      localApp.server.on("request", (req) => {
        reason = req.headers["x-reason"];
      });
      const chain = { chain: { app: { httpGet: { port: localApp.port, path: "/bye?ms=400", httpHeaders } } } };
      const manager = await startManager({ build, clock, env: { LASTCALL_ORIGINAL: JSON.stringify(chain) } });
      const app = await startApp(manager.address, 8_080, clock);
      let requestsAtRelease: readonly string[] = [];
      const hookCall = call(manager, hookPath()).then(() => {
        requestsAtRelease = [...localApp.requests];
      });
      await call(manager, `/${TOKEN}/drain`, "POST");
      await hookCall;
      expect(requestsAtRelease).toEqual(["/bye?ms=400"]);
      expect(reason).toBe("stop");
      expect(await statusOf(manager)).toMatchObject({ outcome: "drained", phase: "done" });
      manager.kill("SIGKILL");
      await endApp(app);
      await endApp(localApp);
    }),
  );
});

describeOnClock("a failure of the original hook", (build) => {
  const WARNING_MESSAGES = ["cannot read chained hooks", "chained hook failed"];
  const httpHook = (port: number) => JSON.stringify({ chain: { app: { httpGet: { port, path: "/bye" } } } });
  test.concurrent.for([
    {
      title: "the settings of the hook are invalid",
      createOriginal: () => "{",
      message: "cannot read chained hooks",
      detail: "JSON",
    },
    {
      title: "no program listens on the hook's port",
      createOriginal: httpHook,
      message: "chained hook failed",
      detail: "container app: GET port",
    },
  ])(
    "is logged once and does not prevent the drain if $title",
    onClock(async (clock, failure: { createOriginal: (port: number) => string; message: string; detail: string }) => {
      const { message, detail } = failure;
      const original = failure.createOriginal(await closedPort());
      const manager = await startManager({ build, clock, env: { LASTCALL_ORIGINAL: original } });
      const app = await startApp(manager.address, 8_080, clock);
      const hookCall = call(manager, hookPath());
      await call(manager, `/${TOKEN}/drain`, "POST");
      expect(JSON.parse((await hookCall).body)).toMatchObject({ outcome: "drained" });
      const warnings = manager.lines().filter((line) => WARNING_MESSAGES.includes(String(line["message"])));
      expect(warnings).toMatchObject([{ level: "warn", message, detail: expect.stringContaining(detail) }]);
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );
});

describeOnClock("a container restart", (build) => {
  test.concurrent(
    "ends with the answer to its hook, and the manager remains ready for a drain",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock });
      const app = await startApp(manager.address, 8_080, clock);
      const startedMs = clock.nowMs();
      const response = await call(manager, hookPath());
      expect(JSON.parse(response.body)).toMatchObject({ phase: "idle", outcome: "restarted" });
      expect(clock.nowMs() - startedMs).toBe(5_000);
      const commandResult = await run(["drain", `--address-scope=${manager.address}`], {}, build, clock);
      expect(JSON.parse(commandResult.stdout)).toMatchObject({ outcome: "drained", trigger: "hook" });
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );
});

describeOnClock("a manager whose own hook is not called", (build) => {
  test.concurrent(
    "answers the hooks of two containers without a drain, later than the hook of one container",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock, flags: ["--drain-delay=50s", "--hooks=app:app,other:app"] });
      const app = await startApp(manager.address, 8_080, clock);
      const startedMs = clock.nowMs();
      const singleResponse = await call(manager, hookPath());
      const pairFromMs = clock.nowMs();
      const pairResponses = await Promise.all([call(manager, hookPath()), call(manager, hookPath("other"))]);
      for (const { body } of [singleResponse, ...pairResponses])
        expect(JSON.parse(body)).toMatchObject({ outcome: "restarted", trigger: "none" });
      expect(pairFromMs - startedMs).toBe(5_000);
      expect(clock.nowMs() - pairFromMs).toBe(15_000);
      expect(manager.lines().some(isPhaseLine("withdrawing"))).toBe(false);
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );

  test.concurrent(
    "drains at SIGTERM in classic mode",
    onClock(async (clock) => {
      const manager = await startManager({ build, clock, flags: [...SHORT_DRAIN_FLAGS, "--classic"] });
      const app = await startApp(manager.address, 8_080, clock);
      const hookCall = call(manager, hookPath());
      await statusOf(manager);
      manager.kill("SIGTERM");
      expect(JSON.parse((await hookCall).body)).toMatchObject({ outcome: "drained", trigger: "sigterm" });
      expect((await manager.ended).code).toBe(0);
      await endApp(app);
    }),
  );
});
