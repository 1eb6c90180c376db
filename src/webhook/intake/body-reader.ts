/**
 * Reads a request body within limits into one buffer that grows with the received bytes, so a large Content-Length alone takes
 * no memory. fastify's reader closes the connection of a client that is still sending, and has no limit for all requests.
 */
import { isAscii } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { BodyBudget, RejectReason } from "./body-budget.ts";
import { type BufferPool, POOLED_BUFFER_LIMIT_BYTES } from "./buffer-pool.ts";
import { LARGE_BYTES } from "./turn-runner.ts";
import type { Pace } from "./unknown-client-pace.ts";

export type BodyResult = CompleteBody | { readonly kind: "too-large" } | { readonly kind: "cut-off" } | RefusedBody;

export type RefusedBody = { readonly kind: "refused"; readonly reason: RejectReason | "without_length" };

type CompleteBody = {
  readonly kind: "complete";
  readonly bytes: number;
  /** Decodes and releases the buffer; call it once. */
  readonly text: () => string;
  /** Returns the body's bytes to the memory budget; call it after the response. */
  readonly release: () => void;
};

type BodyLimits = {
  readonly acceptBytes: number;
  /** Bodies larger than `acceptBytes` are read up to this size, so that the client gets the response instead of a reset. */
  readonly discardBytes: number;
};

type ReadBody = (source: IncomingMessage, done: (body: BodyResult) => void) => void;

type ReaderOptions = {
  readonly limits: BodyLimits;
  readonly budget: BodyBudget;
  readonly pool: BufferPool;
  readonly pace: Pace;
  readonly isKnown: (source: IncomingMessage) => boolean;
  readonly nowMs: () => number;
  readonly schedule: (ms: number, callback: () => void) => void;
};

export function bodyReader(options: ReaderOptions): ReadBody {
  return (source, done) => {
    const declaredBytes = readDeclaredBytes(source);
    // API servers always send Content-Length: their client encodes the review in memory.
    if (declaredBytes === undefined) done({ kind: "refused", reason: "without_length" });
    else if (declaredBytes > options.limits.discardBytes) done({ kind: "too-large" });
    else readDeclared(source, declaredBytes, options, done);
  };
}

/** Size of the initial buffer for known clients. A smaller buffer would be copied for most large reviews. */
const KNOWN_CLIENT_BUFFER_BYTES = POOLED_BUFFER_LIMIT_BYTES;

const MIN_PAUSE_MS = 1;

function readDeclaredBytes({ headers }: IncomingMessage): number | undefined {
  if (headers["transfer-encoding"] !== undefined) return undefined;
  // Node's parser has already refused a value that is not digits.
  return Number(headers["content-length"] ?? 0);
}

function readDeclared(
  source: IncomingMessage,
  declaredBytes: number,
  options: ReaderOptions,
  done: (body: BodyResult) => void,
): void {
  const { limits, budget, pool, nowMs } = options;
  const isKnown = options.isKnown(source);
  const isPaced = !isKnown && declaredBytes > LARGE_BYTES;
  const fitsLimit = declaredBytes <= limits.acceptBytes;
  let buffer: Buffer | undefined;
  /** False for a body of one chunk, because Node allocated its buffer. */
  let isPooled = false;
  let receivedBytes = 0;
  let isSettled = false;
  const settle = (body: BodyResult): void => {
    if (isSettled) return;
    isSettled = true;
    done(body);
  };
  const releaseBuffer = (): void => {
    if (buffer !== undefined && isPooled) pool.release(buffer);
    buffer = undefined;
  };
  const start = {
    nowMs: nowMs(),
    isKnown,
    isSmall: declaredBytes <= LARGE_BYTES,
    address: source.socket?.remoteAddress ?? "",
  };
  const reservation = budget.reserve(start, (reason) => {
    releaseBuffer();
    settle({ kind: "refused", reason });
  });
  const slowDown = (bytes: number): void => {
    const ms = options.pace(bytes, nowMs());
    if (ms < MIN_PAUSE_MS || source.isPaused()) return;
    source.pause();
    options.schedule(ms, () => source.resume());
  };
  source.on("data", (chunk: Buffer) => {
    if (isSettled) return;
    const offset = receivedBytes;
    receivedBytes += chunk.length;
    if (fitsLimit) buffer = offset === 0 && receivedBytes === declaredBytes ? chunk : append(chunk, offset);
    reservation.grow(receivedBytes, buffer?.length ?? 0);
    if (isPaced) slowDown(chunk.length);
  });
  const append = (chunk: Buffer, offset: number): Buffer => {
    isPooled = true;
    let targetBuffer =
      buffer ?? pool.get(Math.min(declaredBytes, isKnown ? KNOWN_CLIENT_BUFFER_BYTES : 2 * chunk.length));
    if (targetBuffer.length < offset + chunk.length) {
      const largerBuffer = pool.get(Math.min(declaredBytes, 2 * (offset + chunk.length)));
      targetBuffer.copy(largerBuffer, 0, 0, offset);
      pool.release(targetBuffer);
      targetBuffer = largerBuffer;
    }
    chunk.copy(targetBuffer, offset);
    return targetBuffer;
  };
  source.on("end", () => {
    if (isSettled) return;
    reservation.complete();
    if (!fitsLimit) {
      reservation.release();
      settle({ kind: "too-large" });
      return;
    }
    const text = (): string => {
      const decoded = decode(buffer, receivedBytes);
      releaseBuffer();
      return decoded;
    };
    settle({ kind: "complete", bytes: receivedBytes, text, release: reservation.release });
  });
  source.on("error", () => {
    if (isSettled) return;
    reservation.release();
    releaseBuffer();
    settle({ kind: "cut-off" });
  });
}

function decode(buffer: Buffer | undefined, bytes: number): string {
  if (buffer === undefined) return "";
  const content = buffer.subarray(0, bytes);
  // Most reviews are ASCII, and latin1 decodes several times faster than UTF-8.
  return content.toString(isAscii(content) ? "latin1" : "utf8");
}
