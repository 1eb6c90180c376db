import { createServer } from "node:net";
import { afterAll, expect, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import { describeBuilds, NODE_BUILD } from "./builds.ts";
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
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

afterAll(endManagers);

// Everything here waits for real time on a machine others use too; bounds are about order, not about speed.
const phase = (name: string) => (line: Record<string, unknown>) =>
  line["message"] === "drain phase" && line["phase"] === name;

describeBuilds("a Pod's end", (build) => {
  test.concurrent("holds the app's hook and the manager's own until the drain is over, then lets SIGTERM end it", async () => {
    const manager = await startManager({ build });
    const app = await startApp(manager.address);
    const command = run(["drain", `--address-scope=${manager.address}`], {}, build);
    // A busy machine starts a program of Node so late that the app's hook alone would be a restart's by then.
    await manager.until(phase("withdrawing"));
    const [answer, own] = await Promise.all([call(manager, hookPath()), command]);
    expect(own.code).toBe(0);
    const report = JSON.parse(own.out);
    expect(report).toMatchObject({ phase: "done", outcome: "drained", trigger: "hook" });
    expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(500);
    expect(answer).toMatchObject({ status: 200, closes: true });
    expect(JSON.parse(answer.body)).toMatchObject({ phase: "done", outcome: "drained" });
    manager.kill("SIGTERM");
    expect((await manager.ended).code).toBe(0);
    const phases = manager.lines().flatMap((line) => (line["message"] === "drain phase" ? [line["phase"]] : []));
    expect(phases).toEqual(["withdrawing", "draining", "holding", "done"]);
    await endApp(app);
  });

  test.concurrent("waits for a request that is still being answered", async () => {
    const manager = await startManager({ build });
    const app = await startApp(manager.address);
    let answeredMs = 0;
    const request = app.slow(3_000).then(() => {
      answeredMs = performance.now();
    });
    await pause(200, "the request comes to the app");
    const held = call(manager, hookPath());
    await call(manager, `/${TOKEN}/drain`, "POST");
    const releasedMs = performance.now();
    await Promise.all([held, request]);
    expect(answeredMs).toBeGreaterThan(0);
    expect(releasedMs).toBeGreaterThan(answeredMs);
    expect(await statusOf(manager)).toMatchObject({ outcome: "drained" });
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("names the connection that stayed when the deadline comes", async () => {
    const manager = await startManager({
      build,
      flags: ["--drain-delay=300ms", "--quiet-period=5s", "--drain-timeout=1s", "--hooks=app:app"],
    });
    const app = await startApp(manager.address);
    const request = app.slow(8_000).catch(() => {});
    await pause(200, "the request comes to the app");
    await call(manager, `/${TOKEN}/drain`, "POST");
    const report = await statusOf(manager);
    expect(report).toMatchObject({ outcome: "timeout", leftTotal: 1 });
    expect(report["why"]).toContain("to port 8080");
    manager.kill("SIGKILL");
    await endApp(app);
    await request;
  });

  test.concurrent("goes on when nobody reads the log any more", async () => {
    const manager = await startManager({ build });
    const app = await startApp(manager.address);
    manager.deafen();
    const held = call(manager, hookPath());
    const answer = await call(manager, `/${TOKEN}/drain`, "POST");
    expect(JSON.parse(answer.body)).toMatchObject({ outcome: "drained" });
    expect((await held).status).toBe(200);
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("is judged by sockets where the driver is not part of the build", async () => {
    const flags = ["--drain-delay=300ms", "--quiet-period=300ms", "--drain-timeout=5s", "--hooks=app:app"];
    const manager = await startManager({ build, flags: [...flags, "--driver=linkerd", "--drained-when=requests"] });
    const app = await startApp(manager.address);
    const answer = await call(manager, `/${TOKEN}/drain`, "POST");
    expect(JSON.parse(answer.body)).toMatchObject({ outcome: "drained" });
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("goes on when every caller has vanished", async () => {
    const manager = await startManager({ build });
    const app = await startApp(manager.address);
    for (const [method, path] of [
      ["GET", hookPath()],
      ["POST", `/${TOKEN}/drain`],
    ]) {
      const socket = await dial(manager);
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
      // Answered after what was sent before it.
      await statusOf(manager);
      socket.resetAndDestroy();
    }
    await manager.until(phase("done"));
    expect(await statusOf(manager)).toMatchObject({ outcome: "drained", trigger: "hook" });
    const late = await call(manager, hookPath());
    expect(late.status).toBe(200);
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("is over at once when nothing in the Pod listens", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=30s", "--hooks=app:app"] });
    const own = await run(["drain", `--address-scope=${manager.address}`], {}, build);
    expect(JSON.parse(own.out)).toMatchObject({ outcome: "not-needed" });
    manager.kill("SIGKILL");
  });

  test.concurrent("is over after two seconds in a Pod that runs to completion and whose apps have finished", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=30s", "--completes", "--hooks=app:app"] });
    const sidecar = await startApp(manager.address);
    const own = await run(["drain", `--address-scope=${manager.address}`], {}, build);
    expect(JSON.parse(own.out)).toMatchObject({ outcome: "not-needed" });
    manager.kill("SIGKILL");
    await endApp(sidecar);
  });

  test.concurrent("performs the container's own hook before the answer", async () => {
    // The hook is called on 127.0.0.1, as inside a Pod.
    const local = await startApp("127.0.0.1", 0);
    const httpHeaders = [{ name: "X-Reason", value: "stop" }];
    let reason: unknown;
    local.server.on("request", (req) => {
      reason = req.headers["x-reason"];
    });
    const chain = { chain: { app: { httpGet: { port: local.port, path: "/bye?ms=400", httpHeaders } } } };
    const manager = await startManager({ build, env: { LASTCALL_ORIGINAL: JSON.stringify(chain) } });
    const app = await startApp(manager.address);
    let releasedAfter: readonly string[] = [];
    const held = call(manager, hookPath()).then(() => {
      releasedAfter = [...local.asked];
    });
    await call(manager, `/${TOKEN}/drain`, "POST");
    await held;
    expect(releasedAfter).toEqual(["/bye?ms=400"]);
    expect(reason).toBe("stop");
    expect(await statusOf(manager)).toMatchObject({ outcome: "drained", phase: "done" });
    manager.kill("SIGKILL");
    await endApp(app);
    await endApp(local);
  });
});

// Only Node's wall clock can be turned from outside without turning the machine's.
describeBuilds(
  "a wall clock that jumps",
  (build) => {
    test("changes no time of a drain", async () => {
      const jumping = "data:text/javascript,let%20n=0;Date.now=()=>(n=(n%2BMath.PI*1e12)%258e15)";
      const manager = await startManager({ build, env: { NODE_OPTIONS: `--import=${jumping}` } });
      const app = await startApp(manager.address);
      const held = call(manager, hookPath());
      await call(manager, `/${TOKEN}/drain`, "POST");
      expect((await held).ms).toBeGreaterThanOrEqual(500);
      expect(await statusOf(manager)).toMatchObject({ outcome: "drained", milliseconds: { withdrawing: 500 } });
      manager.kill("SIGKILL");
      await endApp(app);
    });
  },
  [NODE_BUILD],
);

describeBuilds("what is no end of the Pod", (build) => {
  test.concurrent("one hook alone is a restart: it is released and the manager stays ready", async () => {
    const manager = await startManager({ build });
    const app = await startApp(manager.address);
    const answer = await call(manager, hookPath());
    expect(JSON.parse(answer.body)).toMatchObject({ phase: "idle", outcome: "restarted" });
    expect(answer.ms).toBeGreaterThanOrEqual(4_990);
    const own = await run(["drain", `--address-scope=${manager.address}`], {}, build);
    expect(JSON.parse(own.out)).toMatchObject({ outcome: "drained", trigger: "hook" });
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent.for([
    { says: "another token", path: "/another/status", method: "GET" },
    { says: "no token", path: "/status", method: "GET" },
    { says: "an empty token", path: "//status", method: "GET" },
    { says: "a container that has no hook of ours", path: `/${TOKEN}/prestop/else`, method: "GET" },
    { says: "a drain by GET", path: `/${TOKEN}/drain`, method: "GET" },
    { says: "a hook by POST", path: hookPath(), method: "POST" },
    { says: "a longer path", path: `${hookPath()}/x`, method: "GET" },
    { says: "a very long path", path: `/${TOKEN}/status?${"x".repeat(4_000)}`, method: "GET" },
  ])("$says gets 404 and changes nothing", async ({ path, method }) => {
    const manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD });
    expect((await call(manager, path, method)).status).toBe(404);
    expect(await statusOf(manager)).toMatchObject({ phase: "idle", outcome: "none" });
    manager.kill("SIGKILL");
  });
});

describeBuilds("signals and starting", (build) => {
  test.concurrent("SIGTERM ends an idle manager with nothing open", async () => {
    const manager = await startManager({ build });
    manager.kill("SIGTERM");
    expect((await manager.ended).code).toBe(0);
  });

  test.concurrent("SIGTERM in the middle of a drain answers who waits and says so by its status", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=30s", "--hooks=app:app"] });
    const app = await startApp(manager.address);
    const held = call(manager, hookPath());
    const own = call(manager, `/${TOKEN}/drain`, "POST");
    await manager.until(phase("withdrawing"));
    await pause(200, "both callers are held");
    manager.kill("SIGTERM");
    expect(JSON.parse((await own).body)).toMatchObject({ outcome: "forced" });
    await held;
    expect((await manager.ended).code).toBe(3);
    await endApp(app);
  });

  test.concurrent("an address in use is waited for", async () => {
    const address = ownAddress();
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(17_890, address, resolve));
    const manager = await startManager({ build, address });
    expect(manager.lines()[0]).toMatchObject({ level: "warn", message: "cannot listen, trying again in 5s" });
    await new Promise<void>((resolve) => blocker.close(() => resolve()));
    await manager.until((line) => line["message"] === "listening");
    expect(await statusOf(manager)).toMatchObject({ phase: "idle" });
    manager.kill("SIGKILL");
  });

  test.concurrent("flags that are wrong are all printed, and the status is 64", async () => {
    const end = await run(["serve", "--port=x", "--drain-delay=5", "--colour=red"], { LASTCALL_TOKEN: "a b" }, build);
    expect(end.code).toBe(64);
    for (const word of ["--port", "--drain-delay", "--colour", "LASTCALL_TOKEN"]) expect(end.err).toContain(word);
  });

  test.concurrent.for([
    { args: [], says: "usage" },
    { args: ["dance"], says: "there is no command dance" },
    { args: ["hook"], says: "not there yet" },
    { args: ["status", "--drain-delay=5s"], says: "unknown flag --drain-delay" },
  ])("the words '$args' are answered with '$says' and the status 64", async ({ args, says }) => {
    const end = await run(args, {}, build);
    expect(end).toMatchObject({ code: 64, out: "" });
    expect(end.err).toContain(says);
  });

  test.concurrent("version names the program", async () => {
    expect(await run(["version"], {}, build)).toMatchObject({ code: 0, out: "lastcall-manager 0.1.0\n" });
  });
});

describeBuilds("drain and status without a manager", (build) => {
  test.concurrent.for(["drain", "status"])("%s gives up after two seconds with the status 4", async (command) => {
    const end = await run([command, `--address-scope=${ownAddress()}`], {}, build);
    expect(end.code).toBe(4);
    expect(end.err).toContain("no manager answers");
    expect(end.err).not.toContain(TOKEN);
  });

  test.concurrent("drain gives up on something that accepts and says nothing", async () => {
    const address = ownAddress();
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(17_890, address, resolve));
    const end = await run(["drain", `--address-scope=${address}`], {}, build);
    expect(end.code).toBe(4);
    expect(end.err).toContain("said nothing");
    silent.close();
  });

  test.concurrent("drain ends with the status 4 when the manager dies under it", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=50s", "--hooks=app:app"] });
    const app = await startApp(manager.address);
    const own = run(["drain", `--address-scope=${manager.address}`], {}, build);
    await manager.until(phase("withdrawing"));
    manager.kill("SIGKILL");
    expect((await own).code).toBe(4);
    await endApp(app);
  });

  test.concurrent.for([
    {
      where: "is not heard, and says that this may be why",
      wrapper: [],
      code: 4,
      says: "is gone, hangs or has another LASTCALL_TOKEN",
    },
    {
      where: "says so where the manager hears strangers",
      wrapper: WITHOUT_PORT_GUARD,
      code: 64,
      says: "does not know this LASTCALL_TOKEN",
    },
  ])("drain with another Pod's token $where", async ({ wrapper, code, says }) => {
    const manager = await startManager({ build, wrapper });
    const end = await run(["drain", `--address-scope=${manager.address}`], { LASTCALL_TOKEN: "another" }, build);
    expect(end.code).toBe(code);
    expect(end.err).toContain(says);
    manager.kill("SIGKILL");
  });
});
