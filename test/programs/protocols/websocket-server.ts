/** Runs a minimal WebSocket server (RFC 6455) with short messages, pings and close frames. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";

export type WebSocketEvents = {
  readonly onOpen: (session: Duplex) => void;
  /** Called for every received frame except close frames. */
  readonly onFrame: (session: Duplex) => void;
};

export type WebSocketServer = {
  readonly server: Server;
  readonly send: (session: Duplex, text: string) => void;
  readonly ping: (session: Duplex) => void;
  /** Sends a close frame "going away" to each client; the client's close frame ends the connection. */
  readonly closeAll: () => void;
};

const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT_FRAME_BYTE = 0x81;
const CLOSE_FRAME_BYTE = 0x88;
const PING_FRAME_BYTE = 0x89;
const GOING_AWAY_STATUS = 1_001;
const OPCODE_BITS = 0x0f;
const CLOSE_OPCODE = 0x08;

export function createWebSocketServer(events: WebSocketEvents): WebSocketServer {
  const sessions = new Set<Duplex>();
  const server = createServer((_, res) => res.writeHead(426).end());
  server.on("upgrade", (req: IncomingMessage, session: Duplex) => {
    const key = `${req.headers["sec-websocket-key"]}${ACCEPT_SUFFIX}`;
    const accept = createHash("sha1").update(key).digest("base64");
    session.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
    session.on("data", (bytes: Buffer) => {
      // Clients of the scenarios send the close frame in a separate TCP segment.
      if (((bytes[0] ?? 0) & OPCODE_BITS) === CLOSE_OPCODE) session.end();
      else events.onFrame(session);
    });
    events.onOpen(session);
  });
  return {
    server,
    send: (session, text) => session.write(encodeFrame(TEXT_FRAME_BYTE, Buffer.from(text))),
    ping: (session) => session.write(encodeFrame(PING_FRAME_BYTE, Buffer.alloc(0))),
    closeAll: () => {
      const code = Buffer.from([GOING_AWAY_STATUS >> 8, GOING_AWAY_STATUS & 0xff]);
      for (const session of sessions) session.write(encodeFrame(CLOSE_FRAME_BYTE, code));
    },
  };
}

/** Encodes payloads below 126 bytes, whose length field has one byte. */
function encodeFrame(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, payload.length]), payload]);
}
