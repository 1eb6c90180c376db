import type { Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";
import { describeBuilds } from "./builds.ts";
import {
  call,
  closed,
  dial,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  startApp,
  startManager,
  statusOf,
  TOKEN,
} from "./manager-process.ts";
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

afterAll(endManagers);

/** Still there, still idle, and not only pretending. */
async function expectUnharmed(manager: Manager): Promise<void> {
  expect(await statusOf(manager)).toMatchObject({ phase: "idle", trigger: "none" });
}

describeBuilds("strangers on the manager's port", (build) => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager({
      build,
      wrapper: WITHOUT_PORT_GUARD,
      flags: ["--drain-delay=8s", "--hooks=app:app"],
    });
  });

  test.concurrent.for([
    { says: "nothing", text: "" },
    { says: "half a request line", text: `GET /${TOKEN}/sta` },
    { says: "a request without its end", text: `GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\n` },
    {
      says: "a body that never comes, without the token",
      text: "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n",
    },
  ])("a connection that sends $says is closed", async ({ text }) => {
    const socket = await dial(manager);
    const gone = closed(socket);
    socket.write(text);
    await gone;
    await expectUnharmed(manager);
  });

  test.concurrent("a connection that drips bytes is closed all the same", async () => {
    const socket = await dial(manager);
    const gone = closed(socket);
    // Well begun and never idle: only the limit on the whole request can end this.
    socket.write("GET /x HTTP/1.1\r\nA: ");
    const drip = setInterval(() => socket.write("x"), 200);
    socket.on("error", () => {});
    await gone;
    clearInterval(drip);
    await expectUnharmed(manager);
  });

  test.concurrent("bytes without any sense harm no one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 2_000 }), async (bytes) => {
        const socket = await dial(manager);
        socket.on("error", () => {});
        const gone = closed(socket);
        socket.end(bytes);
        await gone;
      }),
      { numRuns: 60 },
    );
    await expectUnharmed(manager);
  });

  test.concurrent.for([
    { says: "an unknown method", text: "BREW / HTTP/1.1\r\nHost: x\r\n\r\n" },
    { says: "two lengths", text: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab" },
    {
      says: "a length and chunks",
      text: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    },
    { says: "a header of a hundred kilobytes", text: `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(100_000)}\r\n\r\n` },
    { says: "ten requests in one go", text: "GET /x/status HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10) },
    { says: "a TLS greeting", text: "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003" },
    { says: "an upgrade", text: "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" },
  ])("$says ends with the connection closed and the manager unharmed", async ({ text }) => {
    const socket = await dial(manager);
    socket.on("error", () => {});
    const gone = closed(socket);
    socket.write(text, "latin1");
    await gone;
    await expectUnharmed(manager);
  });
});

describeBuilds("a crowd on the manager's port", (build) => {
  test("thousands of idle connections keep no hook and no drain from its answer", async () => {
    const manager = await startManager({
      build,
      wrapper: WITHOUT_PORT_GUARD,
      flags: ["--drain-delay=8s", "--hooks=app:app"],
    });
    const app = await startApp(manager.address);
    const held = call(manager, hookPath());
    await pause(300, "the hook comes before the crowd");
    const crowd: Socket[] = [];
    for (let wave = 0; wave < 30; wave += 1) {
      const wavelet = await Promise.all(Array.from({ length: 100 }, () => dial(manager).catch(() => undefined)));
      for (const socket of wavelet) {
        if (socket === undefined) continue;
        socket.on("error", () => {});
        socket.resume();
        crowd.push(socket);
      }
    }
    // The crowd is still there, and each of these calls is newer than all of it.
    expect(await statusOf(manager)).toMatchObject({ version: 1 });
    const own = await call(manager, `/${TOKEN}/drain`, "POST");
    const answer = await held;
    expect(JSON.parse(own.body)).toMatchObject({ phase: "done" });
    expect(answer.status).toBe(200);
    const open = crowd.filter((socket) => !socket.destroyed && socket.readyState === "open");
    expect(open.length).toBeLessThanOrEqual(256);
    for (const socket of crowd) socket.destroy();
    await endApp(app);
  });
});

describeBuilds("too many calls of one hook", (build) => {
  test("are answered from the newest on, and 128 calls stay, the manager's own hook among them", async () => {
    const fresh = await startManager({ build, flags: ["--drain-delay=50s", "--hooks=app:app"] });
    const app = await startApp(fresh.address);
    const own = call(fresh, `/${TOKEN}/drain`, "POST").catch(() => undefined);
    const early: number[] = [];
    const calls: Promise<void>[] = [];
    for (let index = 0; index < 131; index += 1) {
      calls.push(call(fresh, hookPath()).then(() => void early.push(index)));
      // Answered after what was sent before it.
      await statusOf(fresh);
    }
    await eventually(() => expect(early).toEqual([127, 128, 129, 130]));
    fresh.kill("SIGTERM");
    await Promise.all([...calls, own]);
    expect(early.length).toBe(131);
    await endApp(app);
  });
});
