/** Serves a TLS relay with damaged responses, behind a proxy that damages the TLS handshake. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { generate } from "selfsigned";
import { pause } from "../../time/pause.ts";
import { mutate } from "./mutations.ts";
import { createRandom, seedOf } from "./seeded-random.ts";

/** Each call has its own server name in the certificate, so that the proxy can identify the call by the SNI. */
export const CALLS_PER_PROXY = 50;

const STATUS_IN = '{"state":"in","terminating":true,"reason":""}\n';
const STATUS_OUT = '{"state":"out","terminating":true,"reason":"no Service has the Pod as an endpoint"}\n';
const STREAM_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const RESPONSES = [
  `${STREAM_HEAD}${chunk(STATUS_IN)}${chunk(STATUS_OUT)}${chunk(STATUS_IN)}0\r\n\r\n`,
  `${STREAM_HEAD}${chunk(STATUS_IN)}${chunk(STATUS_IN.slice(0, 20))}${chunk(STATUS_IN.slice(20))}${chunk(STATUS_OUT)}`,
  `${STREAM_HEAD}${chunk(STATUS_IN.repeat(120))}`,
  `HTTP/1.1 200 OK\r\nContent-Length: ${STATUS_IN.length}\r\nConnection: close\r\n\r\n${STATUS_IN}`,
  `HTTP/1.0 200 OK\r\n\r\n${STATUS_IN}`,
  "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
  "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Lastcall\r\nContent-Length: 3\r\n\r\nno\n",
  "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n",
  `HTTP/1.1 200 OK\r\nX-Long: ${"h".repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
  `${STREAM_HEAD}${chunk(`{"state":"in","reason":"${"x".repeat(40_000)}"}\n`)}`,
  `${STREAM_HEAD}${chunk(`${"[".repeat(3_000)}\n`)}`,
].map((text) => Buffer.from(text));

export type TlsDamage =
  | { readonly kind: "none" }
  /** Replaces eight bytes of the handshake, after which no response may be trusted. */
  | { readonly kind: "garbled"; readonly at: number }
  /** Damages the first bytes of the server arbitrarily. */
  | { readonly kind: "mutated" };

export function tlsDamageOf(seed: number, n: number): TlsDamage {
  const random = createRandom(seedOf(seed, `tls ${n}`));
  if (random.chance(0.5)) return { kind: "none" };
  return random.chance(0.5) ? { kind: "garbled", at: random.below(GARBLED_OFFSET_LIMIT) } : { kind: "mutated" };
}

/** In bytes. Less than the server sends in a handshake with a certificate. */
const GARBLED_OFFSET_LIMIT = 600;
const GARBLED_BYTES = 8;

export type HostileRelay = {
  readonly ca: string;
  /** Starts a proxy for the calls from `first` on. @returns its port on 127.0.0.1 */
  readonly proxyFor: (first: number) => Promise<number>;
  readonly close: () => void;
};

export async function openHostileRelay(seed: number): Promise<HostileRelay> {
  const { ca, leaf } = await createCertificates();
  const servers: Server[] = [];
  const openSockets = new Set<Socket>();
  const track = (socket: Socket) => {
    openSockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => openSockets.delete(socket));
  };
  const relay = createTlsServer(leaf, (socket) => {
    track(socket);
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      const earlierMatch = /"pod":"web-([0-9]+)"/.exec(received);
      received += bytes.toString("latin1");
      const n = /"pod":"web-([0-9]+)"/.exec(received)?.[1];
      if (earlierMatch === null && n !== undefined) void respond(socket, seed, Number(n));
    });
  });
  relay.on("connection", track);
  relay.on("tlsClientError", () => {});
  servers.push(relay);
  const relayPort = await listenOnLoopback(relay);
  return {
    ca,
    proxyFor: async (first) => {
      const proxy = createServer((clientSocket) => {
        track(clientSocket);
        clientSocket.once("data", (hello: Buffer) => {
          const name = /r([0-9]+)\.relay\.internal/.exec(hello.toString("latin1"))?.[1];
          const relaySocket = connect({ host: "127.0.0.1", port: relayPort });
          track(relaySocket);
          relaySocket.write(hello);
          clientSocket.pipe(relaySocket);
          sendDamaged(relaySocket, clientSocket, seed, first + Number(name ?? "0"));
        });
      });
      servers.push(proxy);
      return listenOnLoopback(proxy);
    },
    close: () => {
      for (const server of servers) server.close();
      for (const socket of openSockets) socket.destroy();
    },
  };
}

function sendDamaged(relaySocket: Socket, clientSocket: Socket, seed: number, n: number): void {
  const damage = tlsDamageOf(seed, n);
  const random = createRandom(seedOf(seed, `proxy ${n}`));
  let passedBytes = 0;
  relaySocket.on("data", (bytes: Buffer) => {
    let sentBytes = bytes;
    if (damage.kind === "mutated" && passedBytes === 0) sentBytes = mutate(bytes, random);
    if (damage.kind === "garbled")
      sentBytes = Buffer.from(
        bytes.map((byte, at) => {
          const from = passedBytes + at - damage.at;
          return from >= 0 && from < GARBLED_BYTES ? byte ^ 0x5a : byte;
        }),
      );
    passedBytes += bytes.length;
    clientSocket.write(sentBytes);
  });
  relaySocket.on("close", () => clientSocket.destroy());
  clientSocket.on("close", () => relaySocket.destroy());
}

const PIECE_INTERVAL_MS = 5;

async function respond(socket: Socket, seed: number, n: number): Promise<void> {
  const random = createRandom(seedOf(seed, `answer ${n}`));
  const response = random.pick(RESPONSES);
  const bytes = random.chance(0.15) ? response : mutate(response, random);
  const pieces = random.chance(0.7) ? 1 : 2 + random.below(5);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (pieces > 1) await pause(PIECE_INTERVAL_MS, "each piece is a segment of its own");
  }
  // The server leaves some streams open; the client of such a stream waits until its time limit. The server always ends the
  // connection of a report, because the client of a report would wait for twice its time limit.
  const closingMode = random.below(n % 3 === 2 ? 8 : 10);
  if (closingMode < 5) socket.end();
  else if (closingMode < 8) socket.destroy();
}

async function createCertificates(): Promise<{ readonly ca: string; readonly leaf: { cert: string; key: string } }> {
  const key = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;
  const ca = await generate([{ name: "commonName", value: "a relay's authority" }], {
    ...key,
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  const names = Array.from({ length: CALLS_PER_PROXY }, (_, n) => `r${n}.relay.internal`);
  const leaf = await generate([{ name: "commonName", value: "a relay" }], {
    ...key,
    ca: { cert: ca.cert, key: ca.private },
    extensions: [{ name: "subjectAltName", altNames: names.map((value) => ({ type: 2, value })) }],
  });
  return { ca: ca.cert, leaf: { cert: leaf.cert, key: leaf.private } };
}

function listenOnLoopback(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const at = server.address();
      resolve(typeof at === "object" && at !== null ? at.port : 0);
    });
  });
}
