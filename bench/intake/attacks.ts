/** Defines attacks of unauthenticated clients on the webhook's port. Closed connections of an attack are opened again. */
import { once } from "node:events";
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import { reviewBytes } from "../admission-reviews.ts";

export type Attack = {
  readonly title: string;
  readonly connections: number;
  /** New connections per second, limited to keep the attacker's own event loop responsive. */
  readonly perSecond: number;
  readonly tls: boolean;
  readonly sourceAddresses?: number;
  /** Called when the connection is established. @returns the write to repeat, and its interval */
  readonly onConnect: (socket: Socket) => { readonly everyMs: number; readonly repeat: () => void } | undefined;
};

const POST_HEAD = "POST /mutate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
const MAX_BODY_BYTES = 7 * 1024 * 1024;
const BODY_WITHOUT_LAST_BYTE = Buffer.alloc(MAX_BODY_BYTES - 1, " ");
const SMALL_REVIEW = reviewBytes("small");
/** A valid review of the largest size that the server reads: a Pod with one long annotation. */
const LARGE_REVIEW = buildLargeReview(7_200_000);

function buildLargeReview(bytes: number): Buffer {
  const review = JSON.parse(SMALL_REVIEW.toString());
  const { metadata } = review.request.object;
  metadata.annotations = { ...metadata.annotations, note: "x".repeat(bytes - SMALL_REVIEW.length) };
  return Buffer.from(JSON.stringify(review));
}

function post(socket: Socket, body: Buffer): void {
  socket.write(`${POST_HEAD}content-length: ${body.length}\r\n\r\n`);
  socket.write(body);
}

function postRepeatedly(socket: Socket, body: Buffer): undefined {
  socket.on("data", (chunk: Buffer) => {
    if (chunk.includes("HTTP/1.1 ")) post(socket, body);
  });
  post(socket, body);
  return undefined;
}

/** A recorded ClientHello. To respond, the server signs with its key, the most expensive step of a handshake. */
const CLIENT_HELLO = await recordClientHello();

async function recordClientHello(): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  client.on("error", () => undefined);
  const [accepted] = (await once(server, "connection")) as [Socket];
  const [hello] = (await once(accepted, "data")) as [Buffer];
  client.destroy();
  server.close();
  return hello;
}

const CHUNKS = "1\r\nx\r\n".repeat(1_000);

export const ATTACKS: Readonly<Record<string, Attack>> = {
  chunks: {
    title: "4 connections send an endless body in chunks of one byte",
    connections: 4,
    perSecond: 20,
    tls: true,
    onConnect: (socket) => {
      socket.write(`${POST_HEAD}transfer-encoding: chunked\r\n\r\n`);
      return { everyMs: 2, repeat: () => socket.writableLength < 1_000_000 && socket.write(CHUNKS) };
    },
  },
  parked: {
    title: "800 connections send bodies without their last byte",
    connections: 800,
    perSecond: 60,
    tls: true,
    onConnect: (socket) => {
      socket.write(`${POST_HEAD}content-length: ${MAX_BODY_BYTES}\r\n\r\n`);
      socket.write(BODY_WITHOUT_LAST_BYTE);
      return undefined;
    },
  },
  trickle: {
    title: "500 connections send bodies at 1 byte a second",
    connections: 500,
    perSecond: 200,
    tls: true,
    onConnect: (socket) => {
      socket.write(`${POST_HEAD}content-length: ${MAX_BODY_BYTES}\r\n\r\n`);
      return { everyMs: 1_000, repeat: () => socket.write(" ") };
    },
  },
  handshakes: {
    title: "5 000 connections send nothing after their handshake",
    connections: 5_000,
    perSecond: 250,
    tls: true,
    onConnect: () => undefined,
  },
  hellos: {
    title: "2 000 TLS handshakes a second from 200 addresses, each reset after the server's answer",
    connections: 100_000,
    perSecond: 2_000,
    tls: false,
    sourceAddresses: 200,
    onConnect: (socket) => {
      socket.write(CLIENT_HELLO);
      socket.once("data", () => socket.resetAndDestroy());
      return undefined;
    },
  },
  silence: {
    title: "5 000 connections without a handshake",
    connections: 5_000,
    perSecond: 1_000,
    tls: false,
    onConnect: () => undefined,
  },
  heads: {
    title: "200 connections send endless request heads",
    connections: 200,
    perSecond: 100,
    tls: true,
    onConnect: (socket) => {
      socket.write(POST_HEAD);
      return { everyMs: 20, repeat: () => socket.write("x-more: and more\r\n") };
    },
  },
  reviews: {
    title: "100 connections from one address send valid reviews without a pause",
    connections: 100,
    perSecond: 100,
    tls: true,
    onConnect: (socket) => postRepeatedly(socket, SMALL_REVIEW),
  },
  plain: {
    title: "700 connections send one byte and wait",
    connections: 700,
    perSecond: 700,
    tls: false,
    onConnect: (socket) => {
      socket.write("x");
      return undefined;
    },
  },
  known: {
    title: "1 100 connections from 6 addresses send a valid review every 3 s",
    connections: 1_100,
    perSecond: 400,
    tls: true,
    sourceAddresses: 6,
    onConnect: (socket) => {
      post(socket, SMALL_REVIEW);
      return { everyMs: 3_000, repeat: () => post(socket, SMALL_REVIEW) };
    },
  },
  large: {
    title: "8 connections from one address send valid reviews of 7.2 MB without a pause",
    connections: 8,
    perSecond: 8,
    tls: true,
    onConnect: (socket) => {
      post(socket, SMALL_REVIEW);
      let isFirst = true;
      socket.on("data", (chunk: Buffer) => {
        if (!chunk.includes("HTTP/1.1 ")) return;
        if (isFirst || chunk.includes(" 200 ")) post(socket, LARGE_REVIEW);
        isFirst = false;
      });
      return undefined;
    },
  },
};

export const COMBINATIONS: Readonly<Record<string, readonly string[]>> = {
  "reviews+plain": ["reviews", "plain"],
  "reviews+large": ["reviews", "large"],
  all: ["reviews", "plain", "known", "large", "parked"],
};

export type AttackCounts = { opened: number; closed: number };

export function startAttack(attack: Attack, port: number, counts: AttackCounts): void {
  const { connections, perSecond, tls, sourceAddresses = 1, onConnect } = attack;
  let connectionsToOpen = connections;
  const open = (): void => {
    counts.opened += 1;
    const options = { host: "127.0.0.1", port, localAddress: `127.0.1.${1 + (counts.opened % sourceAddresses)}` };
    const socket = tls ? connect({ ...options, rejectUnauthorized: false }) : connectTcp(options);
    let timer: NodeJS.Timeout | undefined;
    socket.once(tls ? "secureConnect" : "connect", () => {
      const write = onConnect(socket);
      if (write !== undefined) timer = setInterval(() => socket.writable && write.repeat(), write.everyMs);
    });
    // Unread responses would block the server's writes, which would be a different attack.
    socket.resume();
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearInterval(timer);
      counts.closed += 1;
      connectionsToOpen += 1;
    });
  };
  const stepMs = 20;
  let permittedConnections = 0;
  setInterval(() => {
    permittedConnections = Math.min(permittedConnections + (perSecond * stepMs) / 1_000, perSecond);
    for (; permittedConnections >= 1 && connectionsToOpen > 0; permittedConnections -= 1) {
      connectionsToOpen -= 1;
      open();
    }
  }, stepMs);
}
