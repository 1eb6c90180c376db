import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";
import { type HttpConnection, openConnection } from "../../src/demo/load/http-client.ts";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
});

/** A server that does what is written for each request, in order of arrival; it ends quietly after the last. */
async function scripted(...script: ((socket: Socket) => void)[]): Promise<(timeoutMs?: number) => HttpConnection> {
  const started = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", () => script.shift()?.(socket));
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  const address = started.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return (timeoutMs) => connectionTo("127.0.0.1", port, timeoutMs);
}

function connectionTo(host: string, port: number, timeoutMs = 30_000): HttpConnection {
  return openConnection({
    clock: realClock,
    host,
    port,
    localAddress: "127.0.0.1",
    timeoutMs,
    wasRefused: () => false,
  });
}

test.for<{ says: string; failure: string | undefined; act: (socket: Socket) => void; timeoutMs?: number }>([
  { says: "an answer", failure: undefined, act: (socket) => socket.write(ANSWER) },
  { says: "an answer of 503", failure: "bad-status", act: (socket) => socket.write(ANSWER.replace("200", "503")) },
  { says: "a reset", failure: "reset", act: (socket) => socket.resetAndDestroy() },
  { says: "a close without an answer", failure: "closed-unanswered", act: (socket) => socket.end() },
  {
    says: "half an answer and a close",
    failure: "closed-unanswered",
    act: (socket) => socket.end(ANSWER.slice(0, -1)),
  },
  {
    says: "half an answer and a reset",
    failure: "reset",
    act: (socket) => socket.write("HTTP/1.1 2", () => socket.resetAndDestroy()),
  },
  { says: "silence", failure: "timed-out", act: () => {}, timeoutMs: 1_000 },
])("$says counts as $failure", async ({ act, failure, timeoutMs }) => {
  const open = await scripted(act);
  expect(await open(timeoutMs).request("/", true)).toEqual({ failure });
});

test("a port where no one listens counts as refused", async () => {
  expect(await connectionTo(ownAddress(), 8_080).request("/", true)).toEqual({ failure: "refused" });
});

test("no failure is ever tried again", async () => {
  let asked = 0;
  const once = (socket: Socket) => {
    asked += 1;
    socket.resetAndDestroy();
  };
  const open = await scripted(once, once, once);
  await open().request("/", true);
  await pause(300, "a second try would have come by now");
  expect(asked).toBe(1);
});

test("a kept connection carries one request after the other", async () => {
  const open = await scripted(
    (socket) => socket.write(ANSWER),
    (socket) => socket.write(ANSWER),
  );
  const connection = open();
  await connection.request("/", true);
  expect(connection.isUsable()).toBe(true);
  expect(await connection.request("/", true)).toEqual({ failure: undefined });
});

test("an answer that asks to close makes the connection unusable without a failure", async () => {
  const open = await scripted((socket) => socket.write(ANSWER.replace("OK\r\n", "OK\r\nConnection: close\r\n")));
  const connection = open();
  expect(await connection.request("/", true)).toEqual({ failure: undefined });
  expect(connection.isUsable()).toBe(false);
});

test("a close between two requests is noticed and is no failure", async () => {
  const open = await scripted((socket) => socket.write(ANSWER, () => setTimeout(() => socket.end(), 100)));
  const connection = open();
  expect(await connection.request("/", true)).toEqual({ failure: undefined });
  await eventually(() => expect(connection.isUsable()).toBe(false));
});

test("a request that races with the server's close is a failure", async () => {
  // The server's close is on its way while the client, which has not seen it, asks again.
  const open = await scripted((socket) => socket.end(ANSWER));
  const connection = open();
  const first = connection.request("/", true);
  const second = first.then(() => connection.request("/", true));
  expect(await first).toEqual({ failure: undefined });
  expect((await second).failure).toMatch(/closed-unanswered|reset/);
});
