import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import { readTextFile, scanTextFile } from "../../src/manager/read-text.ts";
import { createSocketReader } from "../../src/manager/sockets/sockets.ts";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import { type Known, listen, shows, startNode, stop, watching } from "./observation-room.ts";
import { shownBy, type TextSocket } from "./socket-lists.ts";

/** How far the kernel's date of an event may lie outside of the moments we saw around it: jiffies, 10 ms at the coarsest. */
const JIFFIES_MS = 20;

const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

type Handle = (req: IncomingMessage, res: ServerResponse) => void;

async function web(host: string, handle: Handle, onSocket: (socket: Socket) => void = () => {}): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, handle);
  server.on("connection", onSocket);
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server, host);
}

async function tcp(host: string, options: object, handle: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer(options, (socket) => {
    socket.on("error", () => undefined);
    endings.push(() => socket.destroy());
    handle(socket);
  });
  endings.push(() => server.close());
  return listen(server, host);
}

async function dial(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.on("error", () => undefined);
  endings.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

type Span = { readonly fromMs: number; readonly toMs: number };

/** @returns the moments around the request and its whole answer */
function fetchOnce(host: string, port: number, agent: Agent): Promise<Span> {
  const fromMs = performance.now();
  return new Promise((done, failed) => {
    get({ host, port, agent }, (res) => res.resume().on("end", () => done({ fromMs, toMs: performance.now() }))).on(
      "error",
      failed,
    );
  });
}

function expectDated(seen: Known, span: Span): void {
  expect(seen.lastEvidenceMs).toBeGreaterThan(span.fromMs - JIFFIES_MS);
  expect(seen.lastEvidenceMs).toBeLessThan(span.toMs + JIFFIES_MS + seen.tookMs);
}

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true });
  endings.push(() => agent.destroy());
  return agent;
}

describe("real sockets", () => {
  test("of the manager's own port are left out by the kernel, but for the listener; all others are shown", async () => {
    const host = ownAddress();
    const [own, other] = [await tcp(host, {}, () => {}), await tcp(host, {}, () => {})];
    const [toOwn, toOther] = [await dial(host, own), await dial(host, other)];
    const shown = shownBy(createSocketReader(loadNodeLibc(), readTextFile, scanTextFile, own));
    expect(shown?.source).toBe("netlink");
    const portsOf = (sockets: readonly TextSocket[] = []) =>
      sockets.filter((socket) => socket.localAddress === host).map((socket) => socket.localPort);
    expect(portsOf(shown?.listeners).sort()).toEqual([own, other].sort());
    expect(portsOf(shown?.connections)).toContain(other);
    expect(portsOf(shown?.connections)).not.toContain(own);
    // A client within the Pod is no stranger of the manager's, whatever it is connected to.
    const clients = (shown?.connections ?? []).map((socket) => socket.localPort);
    expect(clients).toEqual(expect.arrayContaining([toOwn.localPort, toOther.localPort]));
  });

  test("without connections are quiet, with a listener and no evidence", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    expect(look()).toMatchObject({ hasTcpListener: false, openConnections: 0 });
    await web(host, (_, res) => res.end());
    expect(look()).toMatchObject({
      hasTcpListener: true,
      activity: "quiet",
      lastEvidenceMs: -1,
      evidenceSource: "netlink",
    });
  });

  test("of an idle kept connection are quiet and dated by the answer", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    const port = await web(host, (_, res) => res.end("hello"));
    look();
    const answered = await fetchOnce(host, port, keepAlive());
    await pause(400, "an age to date back by");
    const seen = look();
    expect(seen).toMatchObject({ activity: "quiet", openConnections: 1 });
    expectDated(seen, answered);
    expect(seen.left).toEqual([
      { local: `${host}:${port}`, peer: expect.stringMatching(/^127\.0\.0\.1:/), ageMs: 0, state: "ESTABLISHED" },
    ]);
  });

  test("of a request in flight are not quiet, from its first byte to its answer", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    let answer = (): void => undefined;
    const port = await web(host, (_, res) => {
      answer = () => res.end("late");
    });
    const answered = fetchOnce(host, port, keepAlive());
    answered.catch(() => undefined);
    await shows(look, { openConnections: 1, activity: "busy" });
    for (let n = 0; n < 10; n += 1) {
      await pause(30, "looks at several moments of the request");
      const seen = look();
      expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: seen.atMs });
    }
    const fromMs = performance.now();
    answer();
    const { toMs } = await answered;
    const seen = await shows(look, { activity: "quiet" });
    expectDated(seen, { fromMs, toMs });
  });

  test("of a client that asks again at once always show fresh evidence", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    const port = await web(host, (_, res) => setTimeout(() => res.end("x"), 5));
    const agent = keepAlive();
    let going = true;
    let answeredMs = 0;
    const loop = (async () => {
      while (going) answeredMs = (await fetchOnce(host, port, agent)).toMs;
    })();
    await pause(100, "some requests have come and gone");
    for (let n = 0; n < 30; n += 1) {
      await pause(17, "looks at moments that no period of the client's meets");
      const seen = look();
      expect(seen.lastEvidenceMs).toBeGreaterThan(answeredMs - JIFFIES_MS);
    }
    going = false;
    await loop;
  });

  test("with bytes the server has not read are not quiet", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    const port = await tcp(host, { pauseOnConnect: true }, () => undefined);
    const client = await dial(host, port);
    await shows(look, { openConnections: 1, activity: "quiet" });
    client.write("0123456789");
    await shows(look, { activity: "busy" });
    await pause(200, "bytes that are left unread for a while");
    const seen = look();
    expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: seen.atMs });
  });

  test("that wait for accept are not quiet, though no one sent a byte", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    // Listens, then never comes back to its event loop.
    const { child, line } = await startNode(
      `import {createServer} from "node:net"; import {writeSync} from "node:fs";
       const s = createServer(); s.listen(0, "${host}", () => {
         writeSync(1, String(s.address().port) + "\\n");
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000); });`,
    );
    endings.push(() => stop(child));
    expect(look()).toMatchObject({ activity: "quiet", hasTcpListener: true });
    await dial(host, Number(line));
    await pause(200, "a connection that waits for a while");
    const seen = look();
    expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: seen.atMs });
  });

  test("of an event stream are quiet between events and dated by the last one", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    let stream: ServerResponse | undefined;
    const port = await web(host, (_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      stream = res;
    });
    let heard = (): void => undefined;
    const onEvent = (chunk: Buffer) => chunk.includes("data: 2") && heard();
    get({ host, port, agent: keepAlive() }, (res) => res.on("data", onEvent).on("error", () => undefined)).on(
      "error",
      () => undefined,
    );
    await shows(look, { openConnections: 1, activity: "quiet" });
    await pause(300, "a stream that is silent for a while");
    const fromMs = performance.now();
    await new Promise<void>((resolve) => {
      heard = resolve;
      stream?.write("data: 2\n\n");
    });
    const toMs = performance.now();
    await pause(300, "an age to date back by");
    const seen = look();
    expect(seen).toMatchObject({ activity: "quiet", openConnections: 1 });
    expectDated(seen, { fromMs, toMs });
  });

  test("of a client that has closed its half and waits are not quiet", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    let served: Socket | undefined;
    const port = await tcp(host, { allowHalfOpen: true }, (socket) => {
      served = socket;
      socket.resume();
    });
    const client = await dial(host, port);
    await pause(50, "the server accepts it first");
    client.end("request");
    const seen = await shows(look, { left: [{ state: "CLOSE_WAIT" }] });
    await pause(100, "a half-closed connection that waits for a while");
    expect(look()).toMatchObject({ activity: "busy", openConnections: 1 });
    served?.write("answer");
    expect(await shows(look, { activity: "quiet" })).toMatchObject({ openConnections: 1 });
    expect(seen.openConnections).toBe(1);
  });

  test.for([
    { says: "the server", header: "close" },
    { says: "the client", header: "keep-alive" },
  ])("of a short connection that $says closed between two looks are dated by what it left", async ({ header }) => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    let served = Promise.resolve();
    const port = await web(
      host,
      (_, res) => res.setHeader("connection", header).end("bye"),
      (socket) => {
        served = new Promise((resolve) => socket.on("close", () => resolve()));
      },
    );
    look();
    const agent = new Agent({ keepAlive: true });
    const { fromMs } = await fetchOnce(host, port, agent);
    agent.destroy();
    // What it leaves is dated by its end, which on a busy machine comes well after the answer.
    await served;
    const toMs = performance.now();
    await pause(500, "an age to date back by");
    const seen = look();
    expect(seen).toMatchObject({ activity: "quiet", openConnections: 0 });
    expectDated(seen, { fromMs, toMs });
  });

  test("of an IPv6 listener on a mapped address are seen as IPv4", async () => {
    const host = ownAddress();
    const look = watching({ addressScope: host });
    const port = await web(`::ffff:${host}`, (_, res) => res.end("x"));
    await fetchOnce(host, port, keepAlive());
    expect(look()).toMatchObject({ hasTcpListener: true, openConnections: 1, left: [{ local: `${host}:${port}` }] });
  });
});
