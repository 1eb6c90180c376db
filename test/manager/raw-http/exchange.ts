/** Sends bytes to the manager's port and reads the responses until the connection is closed. */
import type { Socket } from "node:net";
import { pause } from "../../time/pause.ts";
import { dial, PORT } from "../manager-process.ts";

export type RawRequest = {
  /** Latin-1 texts, sent one after the other. */
  readonly pieces: readonly string[];
  /** After the last piece: ends the sending side or resets the connection. */
  readonly ending?: "half-close" | "reset";
  /** A text that is sent twice after the manager has ended its side of the connection. */
  readonly lateText?: string;
  /** For a HEAD request, whose response has a Content-Length but does not have a body. */
  readonly isBodyless?: boolean;
};

export type Exchange = {
  readonly statuses: readonly number[];
  /** Bytes after the last complete response; a client would read them as the start of another response. */
  readonly rest: string;
  /** Code of the connection's error; empty after a regular close. */
  readonly error: string;
};

const PIECE_PAUSE_MS = 20;

export async function exchange(address: string, request: RawRequest): Promise<Exchange> {
  const socket = await dial({ address }, PORT, request.lateText !== undefined);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  let error = "";
  // After a reset the socket also emits `close`.
  socket.on("error", (cause: NodeJS.ErrnoException) => {
    error = cause.code ?? cause.message;
  });
  socket.on("end", () => void sendLate(socket, request.lateText));
  const socketClosed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  for (const piece of request.pieces) {
    if (socket.destroyed) break;
    socket.write(piece, "latin1");
    if (request.pieces.length > 1) await pause(PIECE_PAUSE_MS, "each piece is a segment of its own");
  }
  if (request.ending === "half-close") socket.end();
  if (request.ending === "reset") socket.resetAndDestroy();
  await socketClosed;
  return { ...parseResponses(Buffer.concat(chunks).toString("latin1"), request.isBodyless ?? false), error };
}

async function sendLate(socket: Socket, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  socket.write(text, "latin1");
  await pause(PIECE_PAUSE_MS, "a reset by the other side arrives before the second piece");
  socket.end(text, "latin1");
}

function parseResponses(text: string, isBodyless: boolean): { statuses: number[]; rest: string } {
  const statuses: number[] = [];
  let rest = text;
  for (;;) {
    const head = /^HTTP\/1\.1 ([0-9]{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(rest);
    if (head === null) return { statuses, rest };
    statuses.push(Number(head[1]));
    const afterHead = rest.slice(head[0].length);
    rest = isBodyless ? afterHead : afterHead.slice(bodyLength(head[0], afterHead));
  }
}

function bodyLength(head: string, afterHead: string): number {
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) {
    // The HTTP servers of both builds respond to a bad request with an empty chunked body.
    return afterHead.startsWith("0\r\n\r\n") ? 5 : Number.NaN;
  }
  return Number(/\r\ncontent-length: ([0-9]+)\r\n/i.exec(head)?.[1] ?? "0");
}
