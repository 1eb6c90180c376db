/** One bare conversation with the manager's port: bytes there, and what came back until the connection was gone. */
import { dial, pause } from "../manager-process.ts";

export type Sent = {
  /** Latin-1 text; several pieces go one after the other. */
  readonly pieces: readonly string[];
  /** Ends the sending side after the last piece, or resets the connection. */
  readonly ending?: "half-close" | "reset";
  /** For a HEAD request, whose answer names a length and has no body. */
  readonly bodyless?: boolean;
};

export type Exchange = {
  /** Statuses in their order. */
  readonly statuses: readonly number[];
  /** What is left when every answer has been taken by its own length; anything here breaks the next answer. */
  readonly rest: string;
  /** From the last piece until the connection was gone. */
  readonly goneMs: number;
};

const PIECE_PAUSE_MS = 20;

export async function exchange(address: string, sent: Sent): Promise<Exchange> {
  const socket = await dial({ address });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A reset is one way to be gone.
  socket.on("error", () => {});
  const gone = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  for (const piece of sent.pieces) {
    if (socket.destroyed) break;
    socket.write(piece, "latin1");
    if (sent.pieces.length > 1) await pause(PIECE_PAUSE_MS);
  }
  const sentAtMs = performance.now();
  if (sent.ending === "half-close") socket.end();
  if (sent.ending === "reset") socket.resetAndDestroy();
  await gone;
  const goneMs = performance.now() - sentAtMs;
  return { ...answersIn(Buffer.concat(chunks).toString("latin1"), sent.bodyless ?? false), goneMs };
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
