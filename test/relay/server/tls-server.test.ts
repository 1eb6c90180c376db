/** Tests the TLS handshakes of the relay's port, and which connections it closes when their number exceeds its limit. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type RequestOptions, request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, createSecureContext, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { createTlsServer } from "../../../src/relay/server/relay-server.ts";

const TIMEOUT = { timeout: 180_000 };
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const VALIDITY = { fromMs: Date.now() - 3_600_000, untilMs: Date.now() + 86_400_000 };
const RELAY_NAME = "relay-a.lastcall.internal";

type Relay = {
  readonly port: number;
  readonly ca: string;
  readonly endStreams: () => Promise<unknown>;
  isNameKnown: boolean;
};

async function startRelay(connectionLimit?: number): Promise<Relay> {
  const ca = await makeCaPair("relay CA", VALIDITY);
  const { cert, key } = await makeServerPair(ca, { dns: [RELAY_NAME] }, VALIDITY);
  const context = createSecureContext({ cert, key });
  const streams: (() => Promise<unknown>)[] = [];
  const handle: RequestListener = ({ url }, response) => {
    if (url !== "/stream") response.end("relay");
    else {
      response.write("first");
      streams.push(() => once(response.end(), "close"));
    }
  };
  const contextFor = async (name: string) => (name === RELAY_NAME && relay.isNameKnown ? context : undefined);
  const server = createTlsServer(handle, contextFor, connectionLimit);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endStreams = () => Promise.all(streams.splice(0).map((end) => end()));
  const relay: Relay = { port, ca: ca.cert, endStreams, isNameKnown: true };
  return relay;
}

/** Resolves with the response body or the handshake error. */
function requestRelay({ port, ca }: Relay, options: RequestOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const requestOptions = {
      host: "127.0.0.1",
      port,
      ca,
      servername: RELAY_NAME,
      path: "/",
      agent: false as const,
      ...options,
    };
    const clientRequest = request(requestOptions, (reply) => {
      let received = "";
      reply.on("data", (chunk: Buffer) => {
        received += chunk.toString();
      });
      reply.on("end", () => resolve(received));
    });
    clientRequest.on("error", (error) => resolve(error.message));
    clientRequest.end();
  });
}

test("a client with a known TLS server name gets the certificate of that name and a response", TIMEOUT, async () => {
  expect(await requestRelay(await startRelay())).toBe("relay");
});

test(
  "a client with an unknown TLS server name, or none, is disconnected even if it accepts any certificate",
  TIMEOUT,
  async () => {
    const relay = await startRelay();
    for (const servername of [
      "localhost",
      "relay-b.lastcall.internal",
      `x.${RELAY_NAME}`,
      `${RELAY_NAME}.x`,
      "a".repeat(250),
      "",
    ])
      expect(await requestRelay(relay, { servername, rejectUnauthorized: false })).toMatch(/handshake/);
  },
);

test("a client with a removed TLS server name is disconnected", TIMEOUT, async () => {
  const relay = await startRelay();
  expect(await requestRelay(relay)).toBe("relay");
  relay.isNameKnown = false;
  expect(await requestRelay(relay, { rejectUnauthorized: false })).toMatch(/handshake/);
});

test("a client with TLS 1.1 is disconnected", TIMEOUT, async () => {
  const oldTls = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  expect(await requestRelay(await startRelay(), oldTls)).not.toBe("relay");
});

test("idle connections to the relay do not block clients that send requests", TIMEOUT, async () => {
  const relay = await startRelay(4);
  const connections = [
    await openConnection(relay),
    await openConnection(relay, "GET / HTTP/1.1\r\nhost:"),
    await openConnection(relay, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
    await openConnection(relay, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n"),
  ];
  for (let attempt = 0; attempt < 8; attempt += 1) expect(await requestRelay(relay)).toBe("relay");
  // This promise resolves only if the relay has closed the oldest connection.
  await connections[0]?.closed;
});

test("a response in progress is not aborted for a new connection", TIMEOUT, async () => {
  const relay = await startRelay(2);
  const streams = await Promise.all([1, 2].map(() => openConnection(relay, "GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")));
  await Promise.all(streams.map(({ started }) => started));
  expect(await requestRelay(relay)).not.toBe("relay");
  expect(streams.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  // The responses are complete and the connections are idle, so the relay may close them.
  await relay.endStreams();
  for (let attempt = 0; attempt < 4; attempt += 1) expect(await requestRelay(relay)).toBe("relay");
  expect((await streams[0]?.closed)?.slice(-5)).toBe("0\r\n\r\n");
});

type OpenConnection = {
  readonly socket: TLSSocket;
  readonly started: Promise<unknown>;
  readonly closed: Promise<string>;
};

/** Opens a connection and sends only this text. */
function openConnection({ port }: Relay, text = ""): Promise<OpenConnection> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, servername: RELAY_NAME, rejectUnauthorized: false };
    const socket: TLSSocket = connect(options, () => {
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
