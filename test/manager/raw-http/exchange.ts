/** One bare conversation with the manager's port: bytes there, and what came back until the connection was gone. */
import type { Socket } from "node:net";
import { pause } from "../../time/pause.ts";
import { dial, PORT } from "../manager-process.ts";

export type Sent = {
  /** Latin-1 text; several pieces go one after the other. */
  readonly pieces: readonly string[];
  /** Ends the sending side after the last piece, or resets the connection. */
  readonly ending?: "half-close" | "reset";
  /** Sent twice when the other side has ended its half, which is after the answer. */
  readonly late?: string;
  /** For a HEAD request, whose answer names a length and has no body. */
  readonly bodyless?: boolean;
};

export type Exchange = {
  /** Statuses in their order. */
  readonly statuses: readonly number[];
  /** What is left when every answer has been taken by its own length; anything here breaks the next answer. */
  readonly rest: string;
  /** Code of the error that ended the connection; empty where it was closed in order. */
  readonly error: string;
};

const PIECE_PAUSE_MS = 20;

export async function exchange(address: string, sent: Sent): Promise<Exchange> {
  const socket = await dial({ address }, PORT, sent.late !== undefined);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  let error = "";
  // A reset is one way to be gone.
  socket.on("error", (cause: NodeJS.ErrnoException) => {
    error = cause.code ?? cause.message;
  });
  socket.on("end", () => void sendLate(socket, sent.late));
  const gone = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  for (const piece of sent.pieces) {
    if (socket.destroyed) break;
    socket.write(piece, "latin1");
    if (sent.pieces.length > 1) await pause(PIECE_PAUSE_MS, "each piece is a segment of its own");
  }
  if (sent.ending === "half-close") socket.end();
  if (sent.ending === "reset") socket.resetAndDestroy();
  await gone;
  return { ...answersIn(Buffer.concat(chunks).toString("latin1"), sent.bodyless ?? false), error };
}

async function sendLate(socket: Socket, late: string | undefined): Promise<void> {
  if (late === undefined) return;
  socket.write(late, "latin1");
  await pause(PIECE_PAUSE_MS, "a reset by the other side arrives before the second piece");
  socket.end(late, "latin1");
}

function answersIn(text: string, bodyless: boolean): { statuses: number[]; rest: string } {
  const statuses: number[] = [];
  let rest = text;
  for (;;) {
    const head = /^HTTP\/1\.1 ([0-9]{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(rest);
    if (head === null) return { statuses, rest };
    statuses.push(Number(head[1]));
    const afterHead = rest.slice(head[0].length);
    rest = bodyless ? afterHead : afterHead.slice(bodyLength(head[0], afterHead));
  }
}

function bodyLength(head: string, afterHead: string): number {
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) {
    // The runtimes' own words about a bad request, which are empty.
    return afterHead.startsWith("0\r\n\r\n") ? 5 : Number.NaN;
  }
  return Number(/\r\ncontent-length: ([0-9]+)\r\n/i.exec(head)?.[1] ?? "0");
}
