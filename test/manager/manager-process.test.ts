import { createServer } from "node:net";
import { afterAll, expect, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import { describeBuilds, NODE_BUILD } from "./builds.ts";
import {
  call,
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

const isPhaseLine = (name: string) => (line: Record<string, unknown>) =>
  line["message"] === "drain phase" && line["phase"] === name;

// Only the Node build's wall clock can be changed without changing the host's clock.
describeBuilds(
  "a jump of the system's wall clock",
  (build) => {
    test("does not change the duration of a drain", async () => {
      const jumpingClockModule = "data:text/javascript,let%20n=0;Date.now=()=>(n=(n%2BMath.PI*1e12)%258e15)";
      const manager = await startManager({ build, env: { NODE_OPTIONS: `--import=${jumpingClockModule}` } });
      const app = await startApp(manager.address);
      const hookCall = call(manager, hookPath());
      await call(manager, `/${TOKEN}/drain`, "POST");
      expect((await hookCall).ms).toBeGreaterThanOrEqual(500);
      expect(await statusOf(manager)).toMatchObject({ outcome: "drained", milliseconds: { withdrawing: 500 } });
      manager.kill("SIGKILL");
      await endApp(app);
    });
  },
  [NODE_BUILD],
);

describeBuilds("an invalid HTTP request", (build) => {
  test.concurrent.for([
    { title: "with another token", path: "/another/status", method: "GET" },
    { title: "without a token", path: "/status", method: "GET" },
    { title: "with an empty token", path: "//status", method: "GET" },
    { title: "with the name of a container without a hook", path: `/${TOKEN}/prestop/else`, method: "GET" },
    { title: "with the method GET for the drain path", path: `/${TOKEN}/drain`, method: "GET" },
    { title: "with the method POST for a hook path", path: hookPath(), method: "POST" },
    { title: "with a path with an additional segment", path: `${hookPath()}/x`, method: "GET" },
    { title: "with a very long path", path: `/${TOKEN}/status?${"x".repeat(4_000)}`, method: "GET" },
  ])("$title gets status 404 and does not start a drain", async ({ path, method }) => {
    const manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD });
    expect((await call(manager, path, method)).status).toBe(404);
    expect(await statusOf(manager)).toMatchObject({ phase: "idle", outcome: "none" });
    manager.kill("SIGKILL");
  });
});

describeBuilds("the serve command", (build) => {
  test.concurrent("exits at SIGTERM if no connection is open", async () => {
    const manager = await startManager({ build });
    manager.kill("SIGTERM");
    expect((await manager.ended).code).toBe(0);
  });

  test.concurrent("answers all hooks at SIGTERM during a drain, and exits with EXIT_FORCED", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=30s", "--hooks=app:app"] });
    const app = await startApp(manager.address);
    const hookCall = call(manager, hookPath());
    const drainCall = call(manager, `/${TOKEN}/drain`, "POST");
    await manager.untilLogged(isPhaseLine("withdrawing"));
    await pause(200, "both callers are held");
    manager.kill("SIGTERM");
    expect(JSON.parse((await drainCall).body)).toMatchObject({ outcome: "forced" });
    await hookCall;
    expect((await manager.ended).code).toBe(3);
    await endApp(app);
  });

  test.concurrent("waits while its address is in use", async () => {
    const address = ownAddress();
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(17_890, address, resolve));
    const manager = await startManager({ build, address });
    expect(manager.lines()[0]).toMatchObject({ level: "warn", message: "cannot listen; next attempt in 5s" });
    await new Promise<void>((resolve) => blocker.close(() => resolve()));
    await manager.untilLogged((line) => line["message"] === "listening");
    expect(await statusOf(manager)).toMatchObject({ phase: "idle" });
    manager.kill("SIGKILL");
  });

  test.concurrent("reports all invalid flags and exits with code 64", async () => {
    const end = await run(["serve", "--port=x", "--drain-delay=5", "--colour=red"], { LASTCALL_TOKEN: "a b" }, build);
    expect(end.code).toBe(64);
    for (const word of ["--port", "--drain-delay", "--colour", "LASTCALL_TOKEN"]) expect(end.stderr).toContain(word);
  });

  test.concurrent.for([
    { args: [], message: "usage" },
    { args: ["dance"], message: "unknown command dance" },
    { args: ["hook"], message: "unknown command hook" },
    { args: ["status", "--drain-delay=5s"], message: "unknown flag --drain-delay" },
  ])("exits with code 64 and the message '$message' for the arguments '$args'", async ({ args, message }) => {
    const end = await run(args, {}, build);
    expect(end).toMatchObject({ code: 64, stdout: "" });
    expect(end.stderr).toContain(message);
  });

  test.concurrent("does not run for the command version, which prints the program's name and version", async () => {
    expect(await run(["version"], {}, build)).toMatchObject({ code: 0, stdout: "lastcall-manager 0.1.0\n" });
  });
});

describeBuilds("on the command line", (build) => {
  test.concurrent.for(["drain", "status"])(
    "the command %s exits with code 4 after two seconds if no manager is running",
    async (command) => {
      const end = await run([command, `--address-scope=${ownAddress()}`], {}, build);
      expect(end.code).toBe(4);
      expect(end.stderr).toContain("no manager listens on");
      expect(end.stderr).not.toContain(TOKEN);
    },
  );

  test.concurrent("the command drain exits with code 4 if the server on the port never responds", async () => {
    const address = ownAddress();
    const silentServer = createServer(() => {});
    await new Promise<void>((resolve) => silentServer.listen(17_890, address, resolve));
    const end = await run(["drain", `--address-scope=${address}`], {}, build);
    expect(end.code).toBe(4);
    expect(end.stderr).toContain("the manager did not respond to the request");
    silentServer.close();
  });

  test.concurrent("the command drain exits with code 4 if the manager is killed", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=50s", "--hooks=app:app"] });
    const app = await startApp(manager.address);
    const drainCommand = run(["drain", `--address-scope=${manager.address}`], {}, build);
    await manager.untilLogged(isPhaseLine("withdrawing"));
    manager.kill("SIGKILL");
    expect((await drainCommand).code).toBe(4);
    await endApp(app);
  });

  test.concurrent.for([
    {
      title: "reports the token as a possible cause of the closed connection",
      wrapper: [],
      code: 4,
      message: "exited, hangs or has a different LASTCALL_TOKEN than this command",
    },
    {
      title: "reports the token as the cause if the manager does not have a port guard",
      wrapper: WITHOUT_PORT_GUARD,
      code: 64,
      message: "has a different LASTCALL_TOKEN than this command",
    },
  ])("the command drain with another Pod's token $title", async ({ wrapper, code, message }) => {
    const manager = await startManager({ build, wrapper });
    const end = await run(["drain", `--address-scope=${manager.address}`], { LASTCALL_TOKEN: "another" }, build);
    expect(end.code).toBe(code);
    expect(end.stderr).toContain(message);
    manager.kill("SIGKILL");
  });
});
