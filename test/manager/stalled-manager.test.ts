import { afterAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { closed, dial, endApp, endManagers, hookPath, pause, run, startApp, startManager } from "./manager-process.ts";

/** Longer than a stranger may stay. */
const STALL_MS = 2_600;
/** A virtual machine that is moved, or a node without processor time to spare. */
const LONG_STALL_MS = 8_000;

afterAll(endManagers);

describeBuilds("a manager whose processor time was taken away", (build) => {
  test.concurrent.for([STALL_MS, LONG_STALL_MS])("for %i ms answers the hook that came meanwhile", async (stallMs) => {
    const manager = await startManager({ build, flags: ["--hooks=app:app"] });
    const socket = await dial(manager);
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("utf8");
    });
    const gone = closed(socket);
    await pause(300);
    manager.kill("SIGSTOP");
    await pause(100);
    socket.write(`GET ${hookPath()} HTTP/1.1\r\nHost: manager\r\nConnection: close\r\n\r\n`);
    await pause(stallMs);
    manager.kill("SIGCONT");
    await gone;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test.concurrent("drains the Pod when it comes back, though its own hook gave up on it", async () => {
    const manager = await startManager({ build, flags: ["--hooks=app:app", "--drain-delay=30s"] });
    const app = await startApp(manager.address);
    manager.kill("SIGSTOP");
    const own = await run(["drain", `--address-scope=${manager.address}`], {}, build);
    expect(own).toMatchObject({ code: 4, out: "" });
    manager.kill("SIGCONT");
    expect(await manager.until((line) => line["phase"] === "withdrawing")).toMatchObject({ trigger: "hook" });
    manager.kill("SIGKILL");
    await endApp(app);
  });

  test.concurrent("still closes the connection that says nothing", async () => {
    const manager = await startManager({ build });
    const gone = closed(await dial(manager));
    manager.kill("SIGSTOP");
    await pause(STALL_MS);
    manager.kill("SIGCONT");
    expect(await gone).toBeLessThan(20_000);
  });
});
