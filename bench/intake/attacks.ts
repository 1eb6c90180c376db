/** What a stranger may do to the webhook's port, each as a life of one connection that begins again when it is closed. */
import { once } from "node:events";
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import { reviewBytes } from "../admission-reviews.ts";

export type Attack = {
  readonly says: string;
  readonly connections: number;
  /** New ones at most in a second, so that the attacker's own start is no pause. */
  readonly perSecond: number;
  readonly tls: boolean;
  /** How many addresses of loopback they come from. */
  readonly addresses?: number;
  /** Called once the connection stands; answers what is to be repeated, and after how many milliseconds. */
  readonly begin: (socket: Socket) => { readonly everyMs: number; readonly again: () => void } | undefined;
};

const POST = "POST /mutate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
const LIMIT_BYTES = 7 * 1024 * 1024;
const ALL_BUT_ONE = Buffer.alloc(LIMIT_BYTES - 1, " ");
const SMALL = reviewBytes("small");
/** Valid, and as large as the server reads: a Pod with one long annotation. */
const LARGE = largeReview(7_200_000);

function largeReview(bytes: number): Buffer {
  const review = JSON.parse(SMALL.toString());
  const { metadata } = review.request.object;
  metadata.annotations = { ...metadata.annotations, note: "x".repeat(bytes - SMALL.length) };
  return Buffer.from(JSON.stringify(review));
}

function post(socket: Socket, body: Buffer): void {
  socket.write(`${POST}content-length: ${body.length}\r\n\r\n`);
  socket.write(body);
}

/** The next review as soon as one is answered. */
function postForEver(socket: Socket, body: Buffer): undefined {
  socket.on("data", (chunk: Buffer) => {
    if (chunk.includes("HTTP/1.1 ")) post(socket, body);
  });
  post(socket, body);
  return undefined;
}

/** What a client sends first, as it is recorded from one: the server then answers with a signature of its key. */
const CLIENT_HELLO = await recordedHello();

async function recordedHello(): Promise<Buffer> {
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

/** 1 000 chunks of one byte each. */
const CHUNKS = "1\r\nx\r\n".repeat(1_000);

export const ATTACKS: Readonly<Record<string, Attack>> = {
  chunks: {
    says: "4 connections send chunks of one byte without end",
    connections: 4,
    perSecond: 20,
    tls: true,
    begin: (socket) => {
      socket.write(`${POST}transfer-encoding: chunked\r\n\r\n`);
      return { everyMs: 2, again: () => socket.writableLength < 1_000_000 && socket.write(CHUNKS) };
    },
  },
  parked: {
    says: "800 connections park bodies that lack their last byte",
    connections: 800,
    perSecond: 60,
    tls: true,
    begin: (socket) => {
      socket.write(`${POST}content-length: ${LIMIT_BYTES}\r\n\r\n`);
      socket.write(ALL_BUT_ONE);
      return undefined;
    },
  },
  trickle: {
    says: "500 connections send bodies at 1 byte a second",
    connections: 500,
    perSecond: 200,
    tls: true,
    begin: (socket) => {
      socket.write(`${POST}content-length: ${LIMIT_BYTES}\r\n\r\n`);
      return { everyMs: 1_000, again: () => socket.write(" ") };
    },
  },
  handshakes: {
    says: "5 000 connections finish their handshake and are silent",
    connections: 5_000,
    perSecond: 250,
    tls: true,
    begin: () => undefined,
  },
  hellos: {
    says: "2 000 TLS handshakes a second of 200 addresses, each reset after the answer",
    connections: 100_000,
    perSecond: 2_000,
    tls: false,
    addresses: 200,
    begin: (socket) => {
      socket.write(CLIENT_HELLO);
      socket.once("data", () => socket.resetAndDestroy());
      return undefined;
    },
  },
  silence: {
    says: "5 000 connections without a handshake",
    connections: 5_000,
    perSecond: 1_000,
    tls: false,
    begin: () => undefined,
  },
  heads: {
    says: "200 connections send heads without end",
    connections: 200,
    perSecond: 100,
    tls: true,
    begin: (socket) => {
      socket.write(POST);
      return { everyMs: 20, again: () => socket.write("x-more: and more\r\n") };
    },
  },
  reviews: {
    says: "100 connections of one address send valid reviews without a pause",
    connections: 100,
    perSecond: 100,
    tls: true,
    begin: (socket) => postForEver(socket, SMALL),
  },
  plain: {
    says: "700 connections send one byte and wait",
    connections: 700,
    perSecond: 700,
    tls: false,
    begin: (socket) => {
      socket.write("x");
      return undefined;
    },
  },
  known: {
    says: "1 100 connections of 6 addresses send a valid review every 3 s",
    connections: 1_100,
    perSecond: 400,
    tls: true,
    addresses: 6,
    begin: (socket) => {
      post(socket, SMALL);
      return { everyMs: 3_000, again: () => post(socket, SMALL) };
    },
  },
  large: {
    says: "8 connections of one address send valid reviews of 7.2 MB without a pause",
    connections: 8,
    perSecond: 8,
    tls: true,
    begin: (socket) => {
      post(socket, SMALL);
      let isFirst = true;
      socket.on("data", (chunk: Buffer) => {
        if (!chunk.includes("HTTP/1.1 ")) return;
        if (isFirst || chunk.includes(" 200 ")) post(socket, LARGE);
        isFirst = false;
      });
      return undefined;
    },
  },
};

/** Several at a time. */
export const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  "reviews+plain": ["reviews", "plain"],
  "reviews+large": ["reviews", "large"],
  all: ["reviews", "plain", "known", "large", "parked"],
};

export type AttackTally = { opened: number; closed: number };

/** Until the process ends. */
export function attack(of: Attack, port: number, tally: AttackTally): void {
  const { connections, perSecond, tls, addresses = 1, begin } = of;
  let wanted = connections;
  const open = (): void => {
    tally.opened += 1;
    const where = { host: "127.0.0.1", port, localAddress: `127.0.1.${1 + (tally.opened % addresses)}` };
    const socket = tls ? connect({ ...where, rejectUnauthorized: false }) : connectTcp(where);
    let repeat: NodeJS.Timeout | undefined;
    socket.once(tls ? "secureConnect" : "connect", () => {
      const more = begin(socket);
      if (more !== undefined) repeat = setInterval(() => socket.writable && more.again(), more.everyMs);
    });
    // Answers are read, or the server could wait for that.
    socket.resume();
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearInterval(repeat);
      tally.closed += 1;
      wanted += 1;
    });
  };
  const stepMs = 20;
  let due = 0;
  setInterval(() => {
    due = Math.min(due + (perSecond * stepMs) / 1_000, perSecond);
    for (; due >= 1 && wanted > 0; due -= 1) {
      wanted -= 1;
      open();
    }
  }, stepMs);
}
