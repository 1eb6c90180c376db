/** Reads a request body to text within a limit. The framework's own reader hangs up on a sender that is still sending. */
import { isAscii } from "node:buffer";
import type { IncomingMessage } from "node:http";

export type ReadBody =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too-large" }
  /** The connection ended before the body did. */
  | { readonly kind: "cut-off" };

export type BodyLimits = {
  /** Larger bodies are not kept. */
  readonly keepBytes: number;
  /** A too large body is still read so far, so that its sender sees the answer instead of a reset. */
  readonly discardBytes: number;
};

/** Calls `done` exactly once. */
export function readBody(source: IncomingMessage, limits: BodyLimits, done: (body: ReadBody) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let settled = false;
  const settle = (body: ReadBody): void => {
    if (settled) return;
    settled = true;
    done(body);
  };
  source.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= limits.keepBytes) chunks.push(chunk);
    else if (bytes > limits.discardBytes) settle({ kind: "too-large" });
    else chunks.length = 0;
  });
  source.on("end", () =>
    settle(bytes > limits.keepBytes ? { kind: "too-large" } : { kind: "text", text: decode(chunks, bytes) }),
  );
  // Emitted as well when the sender hangs up in the middle.
  source.on("error", () => settle({ kind: "cut-off" }));
}

/** Kept, because the pages of a new one cost more than copying into it. Nothing is awaited while it is in use. */
const GATHERED = Buffer.allocUnsafeSlow(512 * 1024);

function decode(chunks: readonly Buffer[], bytes: number): string {
  const whole = join(chunks, bytes);
  // Nearly every review is plain ASCII, which is copied several times faster than UTF-8 is decoded.
  return whole.toString(isAscii(whole) ? "latin1" : "utf8");
}

function join(chunks: readonly Buffer[], bytes: number): Buffer {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  if (only !== undefined) return only;
  if (bytes > GATHERED.length) return Buffer.concat(chunks, bytes);
  let end = 0;
  for (const chunk of chunks) end += chunk.copy(GATHERED, end);
  return GATHERED.subarray(0, end);
}
