/** The TLS handshakes that the relay's port accepts, and the connections that it closes beyond the limit. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type RequestOptions, request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, createSecureContext, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { createTlsServer } from "../../../src/relay/server/relay-server.ts";

const LIMIT = { timeout: 180_000 };
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const LIFE = { fromMs: Date.now() - 3_600_000, untilMs: Date.now() + 86_400_000 };
const NAME = "relay-a.lastcall.internal";

type Relay = {
  readonly port: number;
  readonly ca: string;
  readonly endStreams: () => Promise<unknown>;
  known: boolean;
};

async function relay(connectionLimit?: number): Promise<Relay> {
  const ca = await makeCaPair("relay CA", LIFE);
  const { cert, key } = await makeServerPair(ca, { dns: [NAME] }, LIFE);
  const context = createSecureContext({ cert, key });
  const streams: (() => Promise<unknown>)[] = [];
  const handle: RequestListener = ({ url }, response) => {
    if (url !== "/stream") response.end("relay");
    else {
      response.write("first");
      streams.push(() => once(response.end(), "close"));
    }
  };
  const contextFor = async (name: string) => (name === NAME && built.known ? context : undefined);
  const server = createTlsServer(handle, contextFor, connectionLimit);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endStreams = () => Promise.all(streams.splice(0).map((end) => end()));
  const built: Relay = { port, ca: ca.cert, endStreams, known: true };
  return built;
}

/** Resolves with the answer, or with the handshake error. */
function answerOf({ port, ca }: Relay, options: RequestOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const where = { host: "127.0.0.1", port, ca, servername: NAME, path: "/", agent: false as const, ...options };
    const sent = request(where, (reply) => {
      let received = "";
      reply.on("data", (chunk: Buffer) => {
        received += chunk.toString();
      });
      reply.on("end", () => resolve(received));
    });
    sent.on("error", (error) => resolve(error.message));
    sent.end();
  });
}

test("a client with a known TLS server name gets the certificate of that name and a response", LIMIT, async () => {
  expect(await answerOf(await relay())).toBe("relay");
});

test("a client with an unknown TLS server name, or none, is disconnected whatever it trusts", LIMIT, async () => {
  const built = await relay();
  for (const servername of ["localhost", "relay-b.lastcall.internal", `x.${NAME}`, `${NAME}.x`, "a".repeat(250), ""])
    expect(await answerOf(built, { servername, rejectUnauthorized: false })).toMatch(/handshake/);
});

test("a client with a removed TLS server name is disconnected", LIMIT, async () => {
  const built = await relay();
  expect(await answerOf(built)).toBe("relay");
  built.known = false;
  expect(await answerOf(built, { rejectUnauthorized: false })).toMatch(/handshake/);
});

test("a client with TLS 1.1 is disconnected", LIMIT, async () => {
  const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  expect(await answerOf(await relay(), old)).not.toBe("relay");
});

test("idle connections to the relay do not block clients that send requests", LIMIT, async () => {
  const built = await relay(4);
  const held = [
    await openTo(built),
    await openTo(built, "GET / HTTP/1.1\r\nhost:"),
    await openTo(built, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
    await openTo(built, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n"),
  ];
  for (let asked = 0; asked < 8; asked += 1) expect(await answerOf(built)).toBe("relay");
  // The oldest was closed.
  await held[0]?.closed;
});

test("a response in progress is not aborted for a new connection", LIMIT, async () => {
  const built = await relay(2);
  const streams = await Promise.all([1, 2].map(() => openTo(built, "GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")));
  await Promise.all(streams.map(({ started }) => started));
  expect(await answerOf(built)).not.toBe("relay");
  expect(streams.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  // The answer is complete and the connection is kept alive, so it may be cut.
  await built.endStreams();
  for (let asked = 0; asked < 4; asked += 1) expect(await answerOf(built)).toBe("relay");
  expect((await streams[0]?.closed)?.slice(-5)).toBe("0\r\n\r\n");
});

type Open = { readonly socket: TLSSocket; readonly started: Promise<unknown>; readonly closed: Promise<string> };

/** Opens a connection and sends only this text. */
function openTo({ port }: Relay, text = ""): Promise<Open> {
  return new Promise((resolve) => {
    const asked = { host: "127.0.0.1", port, servername: NAME, rejectUnauthorized: false };
    const socket: TLSSocket = connect(asked, () => {
      let received = "";
      socket.on("data", (chunk: Buffer) => {
        received += chunk.toString();
      });
      const closed = new Promise<string>((ended) => {
        socket.once("close", () => ended(received));
      });
      const started = new Promise((resolveStarted) => socket.once("data", resolveStarted));
      if (text !== "") socket.write(text);
      resolve({ socket, started, closed });
    });
    socket.on("error", () => undefined);
  });
}
