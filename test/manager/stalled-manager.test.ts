import { afterAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { closed, dial, endManagers, pause, startManager, TOKEN } from "./manager-process.ts";

/** Longer than a stranger may stay. */
const STALL_MS = 2_600;

afterAll(endManagers);

describeBuilds("a manager whose processor time was taken away", (build) => {
  test("answers the call that came on an accepted connection meanwhile", async () => {
    const manager = await startManager({ build });
    const socket = await dial(manager);
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("utf8");
    });
    const gone = closed(socket);
    await pause(300);
    manager.kill("SIGSTOP");
    await pause(100);
    socket.write(`GET /${TOKEN}/status HTTP/1.1\r\nHost: manager\r\nConnection: close\r\n\r\n`);
    await pause(STALL_MS);
    manager.kill("SIGCONT");
    await gone;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test("still closes the connection that says nothing", async () => {
    const manager = await startManager({ build });
    const gone = closed(await dial(manager));
    manager.kill("SIGSTOP");
    await pause(STALL_MS);
    manager.kill("SIGCONT");
    expect(await gone).toBeLessThan(20_000);
  });
});
