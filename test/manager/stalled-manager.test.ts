import { afterAll, expect, test } from "vitest";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";
import { describeBuilds } from "./builds.ts";
import {
  dial,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  run,
  startApp,
  startManager,
  untilClosed,
} from "./manager-process.ts";
import { countOpenSockets, isStopped } from "./process-load.ts";
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

/** Longer than the time limit of an unauthenticated connection. */
const STALL_MS = 2_600;
/** As during a migration of a virtual machine, or on an overloaded node. */
const LONG_STALL_MS = 8_000;

afterAll(endManagers);

async function stopAndWait(manager: Manager): Promise<void> {
  manager.kill("SIGSTOP");
  await eventually(() => expect(isStopped(manager.pid)).toBe(true));
}

describeBuilds("a manager that SIGSTOP suspended", (build) => {
  test.concurrent.for([STALL_MS, LONG_STALL_MS])(
    "for %i ms answers the hook that arrived in this time",
    async (stallMs) => {
      const manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD, flags: ["--hooks=app:app"] });
      const socketsBefore = countOpenSockets(manager.pid);
      const socket = await dial(manager);
      let response = "";
      socket.on("data", (chunk: Buffer) => {
        response += chunk.toString("utf8");
      });
      const socketClosed = untilClosed(socket);
      await eventually(() => expect(countOpenSockets(manager.pid)).toBeGreaterThan(socketsBefore));
      await stopAndWait(manager);
      socket.write(`GET ${hookPath()} HTTP/1.1\r\nHost: manager\r\nConnection: close\r\n\r\n`);
      await pause(stallMs, "the duration of the stall");
      manager.kill("SIGCONT");
      await socketClosed;
      expect(response).toMatch(/^HTTP\/1\.1 200 OK/);
    },
  );

  test.concurrent("drains the Pod after SIGCONT, even if its own hook has timed out", async () => {
    const manager = await startManager({ build, flags: ["--hooks=app:app", "--drain-delay=30s"] });
    const app = await startApp(manager.address);
    await stopAndWait(manager);
    const drainCommand = await run(["drain", `--address-scope=${manager.address}`], {}, build);
    expect(drainCommand).toMatchObject({ code: 4, stdout: "" });
    manager.kill("SIGCONT");
    expect(await manager.untilLogged((line) => line["phase"] === "withdrawing")).toMatchObject({ trigger: "hook" });
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("answers its own hook after SIGCONT", async () => {
    const manager = await startManager({ build });
    await stopAndWait(manager);
    const drainCommand = run(["drain", `--address-scope=${manager.address}`], {}, build);
    await pause(STALL_MS, "the duration of the stall");
    manager.kill("SIGCONT");
    expect(await drainCommand).toMatchObject({ code: 0, stderr: "" });
  });

  test.concurrent("closes a silent connection after SIGCONT", async () => {
    const manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD });
    const socketClosed = untilClosed(await dial(manager));
    await stopAndWait(manager);
    await pause(STALL_MS, "the duration of the stall");
    manager.kill("SIGCONT");
    await socketClosed;
  });
});
