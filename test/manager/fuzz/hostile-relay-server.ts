/** A relay over TLS that answers as badly as it can, and a cable before it that damages what it says of TLS itself. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { generate } from "selfsigned";
import { pause } from "../../time/pause.ts";
import { mutated } from "./mutations.ts";
import { createRandom, seedOf } from "./seeded-random.ts";

/** A certificate has a name for each, so that the cable knows which number calls: a client says the name openly. */
export const NUMBERS_OF_A_CABLE = 50;

const WORD = '{"state":"in","terminating":true,"reason":""}\n';
const OUT = '{"state":"out","terminating":true,"reason":"no Service offers the Pod"}\n';
const STREAM = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const ANSWERS = [
  `${STREAM}${chunk(WORD)}${chunk(OUT)}${chunk(WORD)}0\r\n\r\n`,
  `${STREAM}${chunk(WORD)}${chunk(WORD.slice(0, 20))}${chunk(WORD.slice(20))}${chunk(OUT)}`,
  `${STREAM}${chunk(WORD.repeat(120))}`,
  `HTTP/1.1 200 OK\r\nContent-Length: ${WORD.length}\r\nConnection: close\r\n\r\n${WORD}`,
  `HTTP/1.0 200 OK\r\n\r\n${WORD}`,
  "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
  "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Lastcall\r\nContent-Length: 3\r\n\r\nno\n",
  "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n",
  `HTTP/1.1 200 OK\r\nX-Long: ${"h".repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
  `${STREAM}${chunk(`{"state":"in","reason":"${"x".repeat(40_000)}"}\n`)}`,
  `${STREAM}${chunk(`${"[".repeat(3_000)}\n`)}`,
].map((text) => Buffer.from(text));

export type TlsDamage =
  | { readonly kind: "none" }
  /** Eight bytes in the middle of the handshake are others: nothing after that may be believed. */
  | { readonly kind: "garbled"; readonly at: number }
  /** The first piece of what the server sends is damaged in any way. */
  | { readonly kind: "mutated" };

export function tlsDamageOf(seed: number, n: number): TlsDamage {
  const random = createRandom(seedOf(seed, `tls ${n}`));
  if (random.chance(0.5)) return { kind: "none" };
  return random.chance(0.5) ? { kind: "garbled", at: random.below(GARBLED_UP_TO) } : { kind: "mutated" };
}

/** A server's part of a handshake is longer, with a certificate in it. */
const GARBLED_UP_TO = 600;
const GARBLED_BYTES = 8;

export type HostileRelay = {
  readonly ca: string;
  /** A cable of its own for the numbers from `first` on. @returns its port of 127.0.0.1 */
  readonly cableFor: (first: number) => Promise<number>;
  readonly close: () => void;
};

export async function openHostileRelay(seed: number): Promise<HostileRelay> {
  const { ca, leaf } = await certificates();
  const servers: Server[] = [];
  const open = new Set<Socket>();
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  };
  const relay = createTlsServer(leaf, (socket) => {
    keep(socket);
    let asked = "";
    socket.on("data", (bytes: Buffer) => {
      const before = /"pod":"web-([0-9]+)"/.exec(asked);
      asked += bytes.toString("latin1");
      const n = /"pod":"web-([0-9]+)"/.exec(asked)?.[1];
      if (before === null && n !== undefined) void answer(socket, seed, Number(n));
    });
  });
  relay.on("connection", keep);
  relay.on("tlsClientError", () => {});
  servers.push(relay);
  const relayPort = await listening(relay);
  return {
    ca,
    cableFor: async (first) => {
      const cable = createServer((near) => {
        keep(near);
        near.once("data", (hello: Buffer) => {
          const name = /r([0-9]+)\.relay\.internal/.exec(hello.toString("latin1"))?.[1];
          const far = connect({ host: "127.0.0.1", port: relayPort });
          keep(far);
          far.write(hello);
          near.pipe(far);
          sendDamaged(far, near, seed, first + Number(name ?? "0"));
        });
      });
      servers.push(cable);
      return listening(cable);
    },
    close: () => {
      for (const server of servers) server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function sendDamaged(far: Socket, near: Socket, seed: number, n: number): void {
  const damage = tlsDamageOf(seed, n);
  const random = createRandom(seedOf(seed, `cable ${n}`));
  let passed = 0;
  far.on("data", (bytes: Buffer) => {
    let sent = bytes;
    if (damage.kind === "mutated" && passed === 0) sent = mutated(bytes, random);
    if (damage.kind === "garbled")
      sent = Buffer.from(
        bytes.map((byte, at) => {
          const from = passed + at - damage.at;
          return from >= 0 && from < GARBLED_BYTES ? byte ^ 0x5a : byte;
        }),
      );
    passed += bytes.length;
    near.write(sent);
  });
  far.on("close", () => near.destroy());
  near.on("close", () => far.destroy());
}

const DRIP_MS = 5;

async function answer(socket: Socket, seed: number, n: number): Promise<void> {
  const random = createRandom(seedOf(seed, `answer ${n}`));
  const whole = random.pick(ANSWERS);
  const bytes = random.chance(0.15) ? whole : mutated(whole, random);
  const pieces = random.chance(0.7) ? 1 : 2 + random.below(5);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (pieces > 1) await pause(DRIP_MS, "each piece is a segment of its own");
  }
  // Silence costs a stream its limit and a report two of its own.
  const manner = random.below(n % 3 === 2 ? 8 : 10);
  if (manner < 5) socket.end();
  else if (manner < 8) socket.destroy();
}

async function certificates(): Promise<{ readonly ca: string; readonly leaf: { cert: string; key: string } }> {
  const key = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;
  const ca = await generate([{ name: "commonName", value: "a relay's authority" }], {
    ...key,
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  const names = Array.from({ length: NUMBERS_OF_A_CABLE }, (_, n) => `r${n}.relay.internal`);
  const leaf = await generate([{ name: "commonName", value: "a relay" }], {
    ...key,
    ca: { cert: ca.cert, key: ca.private },
    extensions: [{ name: "subjectAltName", altNames: names.map((value) => ({ type: 2, value })) }],
  });
  return { ca: ca.cert, leaf: { cert: leaf.cert, key: leaf.private } };
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const at = server.address();
      resolve(typeof at === "object" && at !== null ? at.port : 0);
    });
  });
}
