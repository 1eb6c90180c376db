import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import { readTextFile, scanTextFile } from "../../src/manager/read-text.ts";
import { createSocketReader } from "../../src/manager/sockets/sockets.ts";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import {
  createSampler,
  type DatedObservation,
  listen,
  sampleUntil,
  startNode,
  stopProcess,
} from "./observation-room.ts";
import { readSocketLists, type TextSocket } from "./socket-lists.ts";

/** Tolerance of the kernel's times, which are in jiffies of at most 10 ms. */
const JIFFY_TOLERANCE_MS = 20;

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void;

async function startHttpServer(
  host: string,
  handle: RequestHandler,
  onSocket: (socket: Socket) => void = () => {},
): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, handle);
  server.on("connection", onSocket);
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server, host);
}

async function startTcpServer(host: string, options: object, handle: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer(options, (socket) => {
    socket.on("error", () => undefined);
    cleanups.push(() => socket.destroy());
    handle(socket);
  });
  cleanups.push(() => server.close());
  return listen(server, host);
}

async function dial(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.on("error", () => undefined);
  cleanups.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

type Span = { readonly fromMs: number; readonly toMs: number };

/** @returns the times before the request and after its response */
function fetchOnce(host: string, port: number, agent: Agent): Promise<Span> {
  const fromMs = performance.now();
  return new Promise((done, failed) => {
    get({ host, port, agent }, (res) => res.resume().on("end", () => done({ fromMs, toMs: performance.now() }))).on(
      "error",
      failed,
    );
  });
}

function expectDated(observation: DatedObservation, span: Span): void {
  expect(observation.lastEvidenceMs).toBeGreaterThan(span.fromMs - JIFFY_TOLERANCE_MS);
  expect(observation.lastEvidenceMs).toBeLessThan(span.toMs + JIFFY_TOLERANCE_MS + observation.readDurationMs);
}

function createKeepAliveAgent(): Agent {
  const agent = new Agent({ keepAlive: true });
  cleanups.push(() => agent.destroy());
  return agent;
}

describe("the sockets in a sample", () => {
  test("exclude connections of the manager's port, but include its listener", async () => {
    const host = ownAddress();
    const [own, other] = [await startTcpServer(host, {}, () => {}), await startTcpServer(host, {}, () => {})];
    const [toOwn, toOther] = [await dial(host, own), await dial(host, other)];
    const lists = readSocketLists(createSocketReader(loadNodeLibc(), readTextFile, scanTextFile, own));
    expect(lists?.source).toBe("netlink");
    const portsOf = (sockets: readonly TextSocket[] = []) =>
      sockets.filter((socket) => socket.localAddress === host).map((socket) => socket.localPort);
    expect(portsOf(lists?.listeners).sort()).toEqual([own, other].sort());
    expect(portsOf(lists?.connections)).toContain(other);
    expect(portsOf(lists?.connections)).not.toContain(own);
    // The reader excludes only sockets whose local port is `own`, so it includes the clients' ends of both connections.
    const clients = (lists?.connections ?? []).map((socket) => socket.localPort);
    expect(clients).toEqual(expect.arrayContaining([toOwn.localPort, toOther.localPort]));
  });

  test("are quiet with a listener and without connections", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    expect(sample()).toMatchObject({ hasTcpListener: false, openConnections: 0 });
    await startHttpServer(host, (_, res) => res.end());
    expect(sample()).toMatchObject({
      hasTcpListener: true,
      activity: "quiet",
      lastEvidenceMs: -1,
      evidenceSource: "netlink",
    });
  });

  test("are quiet with an idle keep-alive connection, and the evidence has the time of the last response", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    const port = await startHttpServer(host, (_, res) => res.end("hello"));
    sample();
    const requestSpan = await fetchOnce(host, port, createKeepAliveAgent());
    await pause(400, "the last data gets an age");
    const observation = sample();
    expect(observation).toMatchObject({ activity: "quiet", openConnections: 1 });
    expectDated(observation, requestSpan);
    expect(observation.left).toEqual([
      { local: `${host}:${port}`, peer: expect.stringMatching(/^127\.0\.0\.1:/), ageMs: 0, state: "ESTABLISHED" },
    ]);
  });

  test("are busy from the first byte of a request to its response", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    let respond = (): void => undefined;
    const port = await startHttpServer(host, (_, res) => {
      respond = () => res.end("late");
    });
    const request = fetchOnce(host, port, createKeepAliveAgent());
    request.catch(() => undefined);
    await sampleUntil(sample, { openConnections: 1, activity: "busy" });
    for (let n = 0; n < 10; n += 1) {
      await pause(30, "samples at several times of the request");
      const observation = sample();
      expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: observation.atMs });
    }
    const fromMs = performance.now();
    respond();
    const { toMs } = await request;
    const observation = await sampleUntil(sample, { activity: "quiet" });
    expectDated(observation, { fromMs, toMs });
  });

  test("have new evidence in each sample while a client sends requests without pauses", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    const port = await startHttpServer(host, (_, res) => setTimeout(() => res.end("x"), 5));
    const agent = createKeepAliveAgent();
    let isRunning = true;
    let responseMs = 0;
    const loop = (async () => {
      while (isRunning) responseMs = (await fetchOnce(host, port, agent)).toMs;
    })();
    await pause(100, "some requests have completed");
    for (let n = 0; n < 30; n += 1) {
      await pause(17, "samples that are not in step with the client's requests");
      const observation = sample();
      expect(observation.lastEvidenceMs).toBeGreaterThan(responseMs - JIFFY_TOLERANCE_MS);
    }
    isRunning = false;
    await loop;
  });

  test("are busy with a connection whose bytes the server has not read", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    const port = await startTcpServer(host, { pauseOnConnect: true }, () => undefined);
    const client = await dial(host, port);
    await sampleUntil(sample, { openConnections: 1, activity: "quiet" });
    client.write("0123456789");
    await sampleUntil(sample, { activity: "busy" });
    await pause(200, "bytes that are left unread for a while");
    const observation = sample();
    expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: observation.atMs });
  });

  test("are busy with a connection in the backlog that has not sent data", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    // The program listens and then blocks its event loop.
    const { child, line } = await startNode(
      `import {createServer} from "node:net"; import {writeSync} from "node:fs";
       const s = createServer(); s.listen(0, "${host}", () => {
         writeSync(1, String(s.address().port) + "\\n");
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000); });`,
    );
    cleanups.push(() => stopProcess(child));
    expect(sample()).toMatchObject({ activity: "quiet", hasTcpListener: true });
    await dial(host, Number(line));
    await pause(200, "a connection that waits for a while");
    const observation = sample();
    expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: observation.atMs });
  });

  test("are quiet between the events of a stream, and the evidence has the time of the last event", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    let stream: ServerResponse | undefined;
    const port = await startHttpServer(host, (_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      stream = res;
    });
    let onSecondEvent = (): void => undefined;
    const onEvent = (chunk: Buffer) => chunk.includes("data: 2") && onSecondEvent();
    get({ host, port, agent: createKeepAliveAgent() }, (res) =>
      res.on("data", onEvent).on("error", () => undefined),
    ).on("error", () => undefined);
    await sampleUntil(sample, { openConnections: 1, activity: "quiet" });
    await pause(300, "a stream that is silent for a while");
    const fromMs = performance.now();
    await new Promise<void>((resolve) => {
      onSecondEvent = resolve;
      stream?.write("data: 2\n\n");
    });
    const toMs = performance.now();
    await pause(300, "the last data gets an age");
    const observation = sample();
    expect(observation).toMatchObject({ activity: "quiet", openConnections: 1 });
    expectDated(observation, { fromMs, toMs });
  });

  test("are busy with a half-closed connection that waits for its response", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    let servedSocket: Socket | undefined;
    const port = await startTcpServer(host, { allowHalfOpen: true }, (socket) => {
      servedSocket = socket;
      socket.resume();
    });
    const client = await dial(host, port);
    await pause(50, "the server accepts it first");
    client.end("request");
    const observation = await sampleUntil(sample, { left: [{ state: "CLOSE_WAIT" }] });
    await pause(100, "a half-closed connection that waits for a while");
    expect(sample()).toMatchObject({ activity: "busy", openConnections: 1 });
    servedSocket?.write("answer");
    expect(await sampleUntil(sample, { activity: "quiet" })).toMatchObject({ openConnections: 1 });
    expect(observation.openConnections).toBe(1);
  });

  test.for([
    { title: "the server", header: "close" },
    { title: "the client", header: "keep-alive" },
  ])("include, in TIME_WAIT, a short connection that $title closed between two samples", async ({ header }) => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    let served = Promise.resolve();
    const port = await startHttpServer(
      host,
      (_, res) => res.setHeader("connection", header).end("bye"),
      (socket) => {
        served = new Promise((resolve) => socket.on("close", () => resolve()));
      },
    );
    sample();
    const agent = new Agent({ keepAlive: true });
    const { fromMs } = await fetchOnce(host, port, agent);
    agent.destroy();
    // TIME_WAIT starts at the end of the connection, which on a busy machine is long after the response.
    await served;
    const toMs = performance.now();
    await pause(500, "the last data gets an age");
    const observation = sample();
    expect(observation).toMatchObject({ activity: "quiet", openConnections: 0 });
    expectDated(observation, { fromMs, toMs });
  });

  test("have IPv4 form if an IPv6 listener has a mapped address", async () => {
    const host = ownAddress();
    const sample = createSampler({ addressScope: host });
    const port = await startHttpServer(`::ffff:${host}`, (_, res) => res.end("x"));
    await fetchOnce(host, port, createKeepAliveAgent());
    expect(sample()).toMatchObject({ hasTcpListener: true, openConnections: 1, left: [{ local: `${host}:${port}` }] });
  });
});
