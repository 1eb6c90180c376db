import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, describe, expect, test } from "vitest";
import { createDrainRing, type DrainRing } from "../../../src/relay/drains/drain-ring.ts";
import { createAdminServer, type OpenAdmin, openAdmin } from "../../../src/relay/page/admin-server.ts";
import { CLIENT, someDrain, someReport } from "../../drain-history/some-drain.ts";

const openServers: OpenAdmin[] = [];

afterEach(async () => {
  await Promise.all(openServers.splice(0).map((server) => server.close()));
});

async function startAdmin(): Promise<string> {
  const opened = await openWithDrains();
  openServers.push(opened);
  return `http://127.0.0.1:${opened.port}`;
}

async function openWithDrains(): Promise<OpenAdmin> {
  const drains = createDrainRing(10, () => 0);
  drains.add(someDrain({ id: "aa", uid: "a" }));
  drains.add(someDrain({ id: "bb", uid: "b", namespace: "bank", endedAtMs: 1_795_000_001_000 }));
  return openAdmin({ drains, instance: "web-1" }, 0);
}

/** Creates a ring of a thousand drains, whose JSON list has seven megabytes. */
function createFullRing(): DrainRing {
  const drains = createDrainRing(1_000, () => 0);
  const left = Array.from({ length: 20 }, () => ({ ...CLIENT, peer: "p".repeat(64), local: "l".repeat(64) }));
  const report = someReport({ left, leftTotal: 20, why: "w".repeat(1_000) });
  for (let index = 0; index < 1_000; index += 1) drains.add(someDrain({ id: `${index}`, uid: `${index}`, report }));
  return drains;
}

test("/drains.json is the list of all drains, or of one namespace, with the newest first", async () => {
  const base = await startAdmin();
  const all = await (await fetch(`${base}/drains.json`)).json();
  expect(all).toEqual({
    version: 1,
    instance: "web-1",
    drains: [
      someDrain({ id: "bb", uid: "b", namespace: "bank", endedAtMs: 1_795_000_001_000 }),
      someDrain({ id: "aa", uid: "a" }),
    ],
  });
  const shop = await (await fetch(`${base}/drains.json?namespace=shop`)).json();
  expect(shop).toMatchObject({ version: 1, drains: [{ id: "aa" }] });
  const none = await (await fetch(`${base}/drains.json?namespace=nowhere`)).json();
  expect(none).toMatchObject({ drains: [] });
});

test.for([
  { path: "/", type: "text/html; charset=utf-8", expectedText: "<h1>Recent drains</h1>" },
  { path: "/?namespace=shop", type: "text/html; charset=utf-8", expectedText: "<h1>Recent drains in shop</h1>" },
  { path: "/drains/aa", type: "text/html; charset=utf-8", expectedText: "<h1>Drain of shop/web-7d9f-abcde</h1>" },
  { path: "/drains/aa.svg", type: "image/svg+xml; charset=utf-8", expectedText: "Drain of Pod shop/web-7d9f-abcde" },
  { path: "/drains.json", type: "application/json", expectedText: '"instance":"web-1"' },
])(
  "$path is served as $type with headers that forbid scripts, loads of other resources, and caching",
  async ({ path, type, expectedText }) => {
    const response = await fetch(`${await startAdmin()}${path}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(expectedText);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": type,
      "content-security-policy": expect.stringMatching(/^default-src 'none'; style-src 'unsafe-inline';/),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      connection: "close",
    });
  },
);

test.for([
  {
    path: "/nothing",
    status: 404,
    sentence: "Not found. The paths are GET /, /drains.json, /drains/ID and /drains/ID.svg.\n",
  },
  {
    path: "/drains/zz",
    status: 404,
    sentence: "Replica web-1 does not have a drain with this id. Other replicas record other drains.\n",
  },
  { path: "/drains/aa.svg/", status: 404, sentence: "Not found. The paths are GET /, " },
  { path: "/drains/%2e%2e%2fetc", status: 404, sentence: "Not found. The paths are GET /, " },
  { path: "//drains/aa", status: 404, sentence: "Not found. The paths are GET /, " },
  { path: "/?namespace=%3Cscript%3E", status: 400, sentence: "query parameter namespace" },
  { path: "/drains.json?namespace=", status: 400, sentence: "query parameter namespace" },
])("$path gets status $status and a message without any part of the request", async ({ path, status, sentence }) => {
  const response = await fetch(`${await startAdmin()}${path}`);
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const body = await response.text();
  expect(body).toContain(sentence);
  expect(body).not.toContain("script");
});

test.for(["POST", "PUT", "DELETE", "OPTIONS"])("the method %s gets status 405", async (method) => {
  const response = await fetch(`${await startAdmin()}/`, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("a response to HEAD has the headers of GET and an empty body", async () => {
  const response = await fetch(`${await startAdmin()}/drains.json`, { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
  expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
});

/** Resolves with all received bytes once the server ends the connection. */
async function exchangeBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let response = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => {
      response += chunk.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(response));
  });
}

describe("the admin server closes a connection", { timeout: 60_000, concurrent: true }, () => {
  test.for([
    { title: "silence", bytes: "", response: /^(HTTP\/1.1 408 |$)/ },
    { title: "half a request", bytes: "GET / HTTP/1.1\r\nHost: a\r\n", response: /^HTTP\/1.1 408 / },
    { title: "bytes that are not HTTP", bytes: "\x16\x03\x01\r\n\r\n", response: /^HTTP\/1.1 400 / },
    { title: "endless headers", bytes: `GET / HTTP/1.1\r\nA: ${"a".repeat(20_000)}`, response: /^HTTP\/1.1 431 / },
    {
      title: "two pipelined requests",
      bytes: "GET /drains.json HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
      response: /^HTTP\/1.1 200 .*"version":1.*\}\n$/s,
    },
  ])("after $title", async ({ bytes, response }, { expect: expectHere }) => {
    const opened = await openWithDrains();
    expectHere(await exchangeBytes(opened.port, bytes)).toMatch(response);
    await opened.close();
  });
});

/** Resolves once the connection is accepted, or refused and closed. */
async function openConnection(port: number, bytes = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

test.for([
  { title: "send nothing", bytes: "" },
  { title: "send half a request", bytes: "GET / HTTP/1.1\r\n" },
])("a thousand connections that $title do not block other clients of the admin server", async ({ bytes }) => {
  const opened = await openWithDrains();
  openServers.push(opened);
  const idleSockets: Socket[] = [];
  for (let index = 0; index < 1_000; index += 1) idleSockets.push(await openConnection(opened.port, bytes));
  expect((await fetch(`http://127.0.0.1:${opened.port}/drains.json`)).status).toBe(200);
  for (const socket of idleSockets) socket.destroy();
});

test("clients that open a new connection immediately after each close do not block other clients", async () => {
  const opened = await openWithDrains();
  openServers.push(opened);
  let isOver = false;
  const reconnect = (): void => {
    if (isOver) return;
    const socket = connect(opened.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.on("close", reconnect);
  };
  for (let index = 0; index < 300; index += 1) reconnect();
  await openConnection(opened.port);
  let answeredCount = 0;
  for (let index = 0; index < 10; index += 1)
    answeredCount += await fetch(`http://127.0.0.1:${opened.port}/drains.json`).then(
      ({ status }) => (status === 200 ? 1 : 0),
      () => 0,
    );
  isOver = true;
  process.stdout.write(`${answeredCount} of 10 requests were answered beside 300 connections that reconnect\n`);
  expect(answeredCount).toBe(10);
});

test("clients that do not read their responses are mostly disconnected, and do not block other clients", async () => {
  const drains = createFullRing();
  const clock = { nowMs: 0 };
  const server = createAdminServer({ drains, instance: "web-1", nowMs: () => clock.nowMs });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const readers: Socket[] = [];
  for (let index = 0; index < 40; index += 1) {
    clock.nowMs += 1_000;
    const reader = await openConnection(port);
    reader.pause();
    const requestReceived = once(server, "request");
    reader.write("GET /drains.json HTTP/1.1\r\nHost: a\r\n\r\n");
    await requestReceived;
    readers.push(reader);
  }
  clock.nowMs += 1_000;
  expect((await fetch(`http://127.0.0.1:${port}/drains/1`)).status).toBe(200);
  const connectionCount = await new Promise<number>((resolve) =>
    server.getConnections((_error, count) => resolve(count)),
  );
  expect(connectionCount).toBeLessThanOrEqual(33);
  for (const reader of readers) reader.destroy();
  server.closeAllConnections();
  server.close();
});

test("close() disconnects clients that are still sending", async () => {
  const opened = await openWithDrains();
  let response = "";
  const socket = connect(opened.port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\n"));
  socket.on("data", (chunk: Buffer) => {
    response += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const ended = once(socket, "close");
  await once(socket, "connect");
  // Connections are accepted in order: after this response the first connection is accepted too.
  await fetch(`http://127.0.0.1:${opened.port}/`);
  const closing = opened.close();
  socket.write("Host: a\r\n\r\n");
  await Promise.all([closing, ended]);
  expect(response).toBe("");
});

describe("the admin port's addresses", () => {
  const otherAddresses = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address);

  /** Resolves with `connected` or the error code. Only a server on all addresses serves 127.0.0.2. */
  const tryConnect = (host: string, port: number): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host, port });
      socket.on("connect", () => resolve("connected"));
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      socket.on("connect", () => socket.destroy());
    });

  test("are loopback by default, so other Pods cannot connect", async () => {
    const opened = await openWithDrains();
    openServers.push(opened);
    expect(await tryConnect("127.0.0.1", opened.port)).toBe("connected");
    for (const host of ["127.0.0.2", ...otherAddresses])
      expect(await tryConnect(host, opened.port)).toBe("ECONNREFUSED");
  });

  test("are all addresses if configured", async () => {
    const opened = await openAdmin({ drains: createDrainRing(1, () => 0), instance: "web-1" }, 0, "all");
    openServers.push(opened);
    for (const host of ["127.0.0.1", "127.0.0.2", ...otherAddresses])
      expect(await tryConnect(host, opened.port)).toBe("connected");
  });
});

test("an admin port in use is an error with the port number", async () => {
  const usedPort = Number(new URL(await startAdmin()).port);
  const opening = openAdmin({ drains: createDrainRing(1, () => 0), instance: "web-2" }, usedPort);
  await expect(opening).rejects.toThrow(`admin port ${usedPort} is in use by another process`);
});

test("responses with a thousand drains are limited in size, and the page shows the number of omitted drains", async () => {
  const drains = createFullRing();
  const opened = await openAdmin({ drains, instance: "web-1" }, 0);
  openServers.push(opened);
  const base = `http://127.0.0.1:${opened.port}`;
  const json = await (await fetch(`${base}/drains.json`)).text();
  expect(json.length).toBeLessThan(7_000_000);
  expect(JSON.parse(json).drains).toHaveLength(1_000);
  const page = await (await fetch(base)).text();
  expect(page.length).toBeLessThan(200_000);
  expect(page).toContain("800 older drains are not shown.");
  expect(page.match(/<tr>/g)).toHaveLength(201);
});

describe("requests of one client address", () => {
  type LimitedServer = { readonly port: number; readonly clock: { nowMs: number } };

  async function withLimitedServer(use: (limitedServer: LimitedServer) => Promise<void>): Promise<void> {
    const clock = { nowMs: 0 };
    const server = createAdminServer({
      drains: createDrainRing(1, () => 0),
      instance: "web-1",
      nowMs: () => clock.nowMs,
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    await use({ port: typeof address === "object" && address !== null ? address.port : 0, clock });
    server.closeAllConnections();
    server.close();
  }

  type RequestOptions = { readonly from?: string; readonly path?: string; readonly method?: string };

  function requestStatus(
    port: number,
    { from = "127.0.0.1", path = "/", method = "GET" }: RequestOptions = {},
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const clientRequest = request(
        { host: "127.0.0.1", port, localAddress: from, path, method, agent: false },
        (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode ?? 0));
        },
      );
      clientRequest.on("error", reject);
      clientRequest.end();
    });
  }

  test("are limited to a burst of twenty and then five a second", () =>
    withLimitedServer(async ({ port, clock }) => {
      for (let times = 0; times < 20; times += 1) expect(await requestStatus(port)).toBe(200);
      expect(await requestStatus(port)).toBe(429);
      clock.nowMs = 199;
      expect(await requestStatus(port)).toBe(429);
      clock.nowMs = 400;
      expect([await requestStatus(port), await requestStatus(port), await requestStatus(port)]).toEqual([
        200, 200, 429,
      ]);
    }));

  test.for(["/", "/drains.json", "/drains/zz", "/nothing"])(
    "do not affect another client, at forty requests a second for %s",
    (path) =>
      withLimitedServer(async ({ port, clock }) => {
        const operatorStatuses: number[] = [];
        for (let index = 0; index < 120; index += 1) {
          clock.nowMs += 25;
          await requestStatus(port, { path });
          if (index % 10 === 9) operatorStatuses.push(await requestStatus(port, { from: "127.0.0.2" }));
        }
        expect(operatorStatuses).toEqual(Array.from({ length: 12 }, () => 200));
      }),
  );

  test.for([
    { title: "path is unknown", path: "/nothing", status: 404 },
    { title: "drain is unknown", path: "/drains/zz", status: 404 },
    { title: "namespace is invalid", path: "/?namespace=%3C", status: 400 },
    { title: "method is not allowed", method: "POST", status: 405 },
  ])("do not count against the rate limit if the $title", ({ title: _, status: expected, ...asked }) =>
    withLimitedServer(async ({ port }) => {
      for (let times = 0; times < 30; times += 1) expect(await requestStatus(port, asked)).toBe(expected);
      expect(await requestStatus(port)).toBe(200);
    }),
  );
});
