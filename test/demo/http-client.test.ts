import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";
import { type HttpConnection, openConnection } from "../../src/demo/load/http-client.ts";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";

const RESPONSE = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
});

/** A server that runs one function of the script for each request; further requests do not get a response. */
async function startScriptedServer(
  ...script: ((socket: Socket) => void)[]
): Promise<(timeoutMs?: number) => HttpConnection> {
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

test.for<{ title: string; failure: string | undefined; respond: (socket: Socket) => void; timeoutMs?: number }>([
  { title: "a complete response", failure: undefined, respond: (socket) => socket.write(RESPONSE) },
  { title: "status 503", failure: "bad-status", respond: (socket) => socket.write(RESPONSE.replace("200", "503")) },
  { title: "a reset", failure: "reset", respond: (socket) => socket.resetAndDestroy() },
  { title: "a close without a response", failure: "closed-unanswered", respond: (socket) => socket.end() },
  {
    title: "a close within the response",
    failure: "closed-unanswered",
    respond: (socket) => socket.end(RESPONSE.slice(0, -1)),
  },
  {
    title: "a reset within the response",
    failure: "reset",
    respond: (socket) => socket.write("HTTP/1.1 2", () => socket.resetAndDestroy()),
  },
  { title: "no response before the timeout", failure: "timed-out", respond: () => {}, timeoutMs: 1_000 },
])("a request that ends with $title has the failure $failure", async ({ respond, failure, timeoutMs }) => {
  const open = await startScriptedServer(respond);
  expect(await open(timeoutMs).request("/", true)).toEqual({ failure });
});

test("a request to a port without a listener has the failure refused", async () => {
  expect(await connectionTo(ownAddress(), 8_080).request("/", true)).toEqual({ failure: "refused" });
});

test("the demo's client does not retry a failed request", async () => {
  let requests = 0;
  const reset = (socket: Socket) => {
    requests += 1;
    socket.resetAndDestroy();
  };
  const open = await startScriptedServer(reset, reset, reset);
  await open().request("/", true);
  await pause(300, "a retry would have arrived by now");
  expect(requests).toBe(1);
});

test("a keep-alive connection carries several requests", async () => {
  const open = await startScriptedServer(
    (socket) => socket.write(RESPONSE),
    (socket) => socket.write(RESPONSE),
  );
  const connection = open();
  await connection.request("/", true);
  expect(connection.isUsable()).toBe(true);
  expect(await connection.request("/", true)).toEqual({ failure: undefined });
});

test("Connection: close makes the connection unusable without a failure", async () => {
  const open = await startScriptedServer((socket) =>
    socket.write(RESPONSE.replace("OK\r\n", "OK\r\nConnection: close\r\n")),
  );
  const connection = open();
  expect(await connection.request("/", true)).toEqual({ failure: undefined });
  expect(connection.isUsable()).toBe(false);
});

test("a close between two requests makes the connection unusable without a failure", async () => {
  const open = await startScriptedServer((socket) => socket.write(RESPONSE, () => setTimeout(() => socket.end(), 100)));
  const connection = open();
  expect(await connection.request("/", true)).toEqual({ failure: undefined });
  await eventually(() => expect(connection.isUsable()).toBe(false));
});

test("a request that races with the server's close is a failure", async () => {
  // The server closes the connection after its response. The client sends the next request before the server's FIN arrives.
  const open = await startScriptedServer((socket) => socket.end(RESPONSE));
  const connection = open();
  const first = connection.request("/", true);
  const second = first.then(() => connection.request("/", true));
  expect(await first).toEqual({ failure: undefined });
  expect((await second).failure).toMatch(/closed-unanswered|reset/);
});
