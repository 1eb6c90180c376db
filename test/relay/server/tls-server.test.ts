/** Whom the relay's port lets in, and who has to go when there are too many. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type RequestOptions, request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, createSecureContext, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { relayTlsServer } from "../../../src/relay/server/relay-server.ts";

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
  const server = relayTlsServer(handle, contextFor, connectionLimit);
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

/** What is answered; or why the client was not let in. */
function answerOf({ port, ca }: Relay, asking: RequestOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const where = { host: "127.0.0.1", port, ca, servername: NAME, path: "/", agent: false as const, ...asking };
    const sent = request(where, (reply) => {
      let text = "";
      reply.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      reply.on("end", () => resolve(text));
    });
    sent.on("error", (error) => resolve(error.message));
    sent.end();
  });
}

test("one of its names gets its certificate and answers", LIMIT, async () => {
  expect(await answerOf(await relay())).toBe("relay");
});

test("any other name, and none, is not let in, whatever the client would trust", LIMIT, async () => {
  const built = await relay();
  for (const servername of ["localhost", "relay-b.lastcall.internal", `x.${NAME}`, `${NAME}.x`, "a".repeat(250), ""])
    expect(await answerOf(built, { servername, rejectUnauthorized: false })).toMatch(/handshake/);
});

test("a name that was given up is not let in any more", LIMIT, async () => {
  const built = await relay();
  expect(await answerOf(built)).toBe("relay");
  built.known = false;
  expect(await answerOf(built, { rejectUnauthorized: false })).toMatch(/handshake/);
});

test("TLS 1.1 is refused", LIMIT, async () => {
  const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  expect(await answerOf(await relay(), old)).not.toBe("relay");
});

test("connections on which no one asks, or no one asks any more, keep no one out who does", LIMIT, async () => {
  const built = await relay(4);
  const held = [
    await openTo(built),
    await openTo(built, "GET / HTTP/1.1\r\nhost:"),
    await openTo(built, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
    await openTo(built, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n"),
  ];
  for (let asked = 0; asked < 8; asked += 1) expect(await answerOf(built)).toBe("relay");
  // The oldest had to go.
  await held[0]?.closed;
});

test("an answer that is under way is not cut for a newcomer", LIMIT, async () => {
  const built = await relay(2);
  const streams = await Promise.all([1, 2].map(() => openTo(built, "GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")));
  await Promise.all(streams.map(({ begun }) => begun));
  expect(await answerOf(built)).not.toBe("relay");
  expect(streams.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  // Over, and the connection is kept: it is as good as any other to be cut.
  await built.endStreams();
  for (let asked = 0; asked < 4; asked += 1) expect(await answerOf(built)).toBe("relay");
  expect((await streams[0]?.closed)?.slice(-5)).toBe("0\r\n\r\n");
});

type Open = { readonly socket: TLSSocket; readonly begun: Promise<unknown>; readonly closed: Promise<string> };

/** A connection on which nothing more is said than this. */
function openTo({ port }: Relay, said = ""): Promise<Open> {
  return new Promise((resolve) => {
    const asked = { host: "127.0.0.1", port, servername: NAME, rejectUnauthorized: false };
    const socket: TLSSocket = connect(asked, () => {
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      const closed = new Promise<string>((ended) => {
        socket.once("close", () => ended(text));
      });
      const begun = new Promise((heard) => socket.once("data", heard));
      if (said !== "") socket.write(said);
      resolve({ socket, begun, closed });
    });
    socket.on("error", () => undefined);
  });
}
