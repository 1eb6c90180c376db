import type { Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";
import { describeBuilds } from "./builds.ts";
import {
  call,
  dial,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  startApp,
  startManager,
  statusOf,
  TOKEN,
  untilClosed,
} from "./manager-process.ts";
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

afterAll(endManagers);

/** Checks that the manager responds and is idle. */
async function expectUnharmed(manager: Manager): Promise<void> {
  expect(await statusOf(manager)).toMatchObject({ phase: "idle", trigger: "none" });
}

describeBuilds("unauthenticated clients at the manager's port", (build) => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager({
      build,
      wrapper: WITHOUT_PORT_GUARD,
      flags: ["--drain-delay=8s", "--hooks=app:app"],
    });
  });

  test.concurrent.for([
    { title: "nothing", text: "" },
    { title: "an incomplete request line", text: `GET /${TOKEN}/sta` },
    { title: "an incomplete header section", text: `GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\n` },
    {
      title: "a request without the token or its announced body",
      text: "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n",
    },
  ])("are disconnected at the time limit if they send $title", async ({ text }) => {
    const socket = await dial(manager);
    const socketClosed = untilClosed(socket);
    socket.write(text);
    await socketClosed;
    await expectUnharmed(manager);
  });

  test.concurrent("are disconnected at the time limit if they send single bytes slowly", async () => {
    const socket = await dial(manager);
    const socketClosed = untilClosed(socket);
    // The connection is never idle, so only the time limit of the whole request ends it.
    socket.write("GET /x HTTP/1.1\r\nA: ");
    const drip = setInterval(() => socket.write("x"), 200);
    socket.on("error", () => {});
    await socketClosed;
    clearInterval(drip);
    await expectUnharmed(manager);
  });

  test.concurrent("cannot disturb the manager with arbitrary bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 2_000 }), async (bytes) => {
        const socket = await dial(manager);
        socket.on("error", () => {});
        const socketClosed = untilClosed(socket);
        socket.end(bytes);
        await socketClosed;
      }),
      { numRuns: 60 },
    );
    await expectUnharmed(manager);
  });

  test.concurrent.for([
    { title: "an unknown method", text: "BREW / HTTP/1.1\r\nHost: x\r\n\r\n" },
    {
      title: "two Content-Length fields",
      text: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    },
    {
      title: "Content-Length and chunked encoding",
      text: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    },
    {
      title: "a header of a hundred kilobytes",
      text: `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(100_000)}\r\n\r\n`,
    },
    { title: "ten pipelined requests", text: "GET /x/status HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10) },
    { title: "a TLS ClientHello", text: "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003" },
    { title: "an upgrade", text: "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" },
  ])("are disconnected and do not disturb the manager if they send $title", async ({ text }) => {
    const socket = await dial(manager);
    socket.on("error", () => {});
    const socketClosed = untilClosed(socket);
    socket.write(text, "latin1");
    await socketClosed;
    await expectUnharmed(manager);
  });
});

describeBuilds("thousands of connections to the manager's port", (build) => {
  test("do not prevent the manager's responses to hooks and drain commands", async () => {
    const manager = await startManager({
      build,
      wrapper: WITHOUT_PORT_GUARD,
      flags: ["--drain-delay=8s", "--hooks=app:app"],
    });
    const app = await startApp(manager.address);
    const hookCall = call(manager, hookPath());
    await pause(300, "the hook arrives before the other connections");
    const otherSockets: Socket[] = [];
    for (let round = 0; round < 30; round += 1) {
      const batch = await Promise.all(Array.from({ length: 100 }, () => dial(manager).catch(() => undefined)));
      for (const socket of batch) {
        if (socket === undefined) continue;
        socket.on("error", () => {});
        socket.resume();
        otherSockets.push(socket);
      }
    }
    // The following calls arrive after all other connections.
    expect(await statusOf(manager)).toMatchObject({ version: 1 });
    const drainResponse = await call(manager, `/${TOKEN}/drain`, "POST");
    const hookResponse = await hookCall;
    expect(JSON.parse(drainResponse.body)).toMatchObject({ phase: "done" });
    expect(hookResponse.status).toBe(200);
    const openSockets = otherSockets.filter((socket) => !socket.destroyed && socket.readyState === "open");
    expect(openSockets.length).toBeLessThanOrEqual(256);
    for (const socket of otherSockets) socket.destroy();
    await endApp(app);
  });
});

describeBuilds("more than 128 calls of one hook", (build) => {
  test("leave 128 calls unanswered, including the manager's own hook, because the newest calls are answered immediately", async () => {
    const manager = await startManager({ build, flags: ["--drain-delay=50s", "--hooks=app:app"] });
    const app = await startApp(manager.address);
    const drainCall = call(manager, `/${TOKEN}/drain`, "POST").catch(() => undefined);
    const answeredCalls: number[] = [];
    const calls: Promise<void>[] = [];
    for (let index = 0; index < 131; index += 1) {
      calls.push(call(manager, hookPath()).then(() => void answeredCalls.push(index)));
      // The response proves that the manager has read the call above.
      await statusOf(manager);
    }
    await eventually(() => expect(answeredCalls).toEqual([127, 128, 129, 130]));
    manager.kill("SIGTERM");
    await Promise.all([...calls, drainCall]);
    expect(answeredCalls.length).toBe(131);
    await endApp(app);
  });
});
