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

const phase = (name: string) => (line: Record<string, unknown>) =>
  line["message"] === "drain phase" && line["phase"] === name;

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
    { args: ["dance"], says: "unknown command dance" },
    { args: ["hook"], says: "unknown command hook" },
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
    expect(end.err).toContain("no manager at");
    expect(end.err).not.toContain(TOKEN);
  });

  test.concurrent("drain gives up on something that accepts and says nothing", async () => {
    const address = ownAddress();
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(17_890, address, resolve));
    const end = await run(["drain", `--address-scope=${address}`], {}, build);
    expect(end.code).toBe(4);
    expect(end.err).toContain("no response after the request");
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
      says: "exited, hangs or has another LASTCALL_TOKEN",
    },
    {
      where: "says so where the manager hears strangers",
      wrapper: WITHOUT_PORT_GUARD,
      code: 64,
      says: "has another LASTCALL_TOKEN",
    },
  ])("drain with another Pod's token $where", async ({ wrapper, code, says }) => {
    const manager = await startManager({ build, wrapper });
    const end = await run(["drain", `--address-scope=${manager.address}`], { LASTCALL_TOKEN: "another" }, build);
    expect(end.code).toBe(code);
    expect(end.err).toContain(says);
    manager.kill("SIGKILL");
  });
});
