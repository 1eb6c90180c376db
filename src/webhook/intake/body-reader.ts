/**
 * Reads a request body within limits into one buffer that grows with the received bytes, so a large Content-Length alone takes
 * no memory. fastify's reader closes the connection of a client that is still sending, and has no limit for all requests.
 */
import { isAscii } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { BodyBudget, CutReason } from "./body-budget.ts";
import { type BufferPool, KEPT_BUFFER_BYTES } from "./buffer-pool.ts";
import { LARGE_BYTES } from "./turn-runner.ts";
import type { Pace } from "./unknown-client-pace.ts";

export type ReadBody = CompleteBody | { readonly kind: "too-large" } | { readonly kind: "cut-off" } | RefusedBody;

export type RefusedBody = { readonly kind: "refused"; readonly why: CutReason | "without_length" };

type CompleteBody = {
  readonly kind: "whole";
  readonly bytes: number;
  /** Decodes and releases the buffer; call it once. */
  readonly text: () => string;
  /** Returns the body's bytes to the memory budget; call it after the response. */
  readonly release: () => void;
};

type BodyLimits = {
  readonly keepBytes: number;
  /** Larger bodies than `keepBytes` are read up to this size, so that the client gets the response instead of a reset. */
  readonly discardBytes: number;
};

type ReadBodyOf = (source: IncomingMessage, done: (body: ReadBody) => void) => void;

type ReaderParts = {
  readonly limits: BodyLimits;
  readonly budget: BodyBudget;
  readonly store: BufferPool;
  readonly pace: Pace;
  readonly isKnown: (source: IncomingMessage) => boolean;
  readonly nowMs: () => number;
  readonly later: (ms: number, act: () => void) => void;
};

export function bodyReader(parts: ReaderParts): ReadBodyOf {
  return (source, done) => {
    const declared = declaredBytes(source);
    // API servers always send Content-Length: their client encodes the review in memory.
    if (declared === undefined) done({ kind: "refused", why: "without_length" });
    else if (declared > parts.limits.discardBytes) done({ kind: "too-large" });
    else readDeclared(source, declared, parts, done);
  };
}

/** Initial buffer for known clients. A smaller buffer would be copied for most large reviews. */
const TRUSTED_BYTES = KEPT_BUFFER_BYTES;

const LEAST_PAUSE_MS = 1;

function declaredBytes({ headers }: IncomingMessage): number | undefined {
  if (headers["transfer-encoding"] !== undefined) return undefined;
  // Node's parser has already refused a value that is not digits.
  return Number(headers["content-length"] ?? 0);
}

function readDeclared(
  source: IncomingMessage,
  declared: number,
  parts: ReaderParts,
  done: (body: ReadBody) => void,
): void {
  const { limits, budget, store, nowMs } = parts;
  const isKnown = parts.isKnown(source);
  const isPaced = !isKnown && declared > LARGE_BYTES;
  const isKept = declared <= limits.keepBytes;
  let held: Buffer | undefined;
  /** False for a body of one chunk, because Node allocated its buffer. */
  let isPooled = false;
  let received = 0;
  let settled = false;
  const settle = (body: ReadBody): void => {
    if (settled) return;
    settled = true;
    done(body);
  };
  const releaseBuffer = (): void => {
    if (held !== undefined && isPooled) store.release(held);
    held = undefined;
  };
  const from = {
    nowMs: nowMs(),
    isKnown,
    isSmall: declared <= LARGE_BYTES,
    address: source.socket?.remoteAddress ?? "",
  };
  const place = budget.reserve(from, (why) => {
    releaseBuffer();
    settle({ kind: "refused", why });
  });
  const slowDown = (bytes: number): void => {
    const ms = parts.pace(bytes, nowMs());
    if (ms < LEAST_PAUSE_MS || source.isPaused()) return;
    source.pause();
    parts.later(ms, () => source.resume());
  };
  source.on("data", (chunk: Buffer) => {
    if (settled) return;
    const before = received;
    received += chunk.length;
    if (isKept) held = before === 0 && received === declared ? chunk : appended(chunk, before);
    place.grow(received, held?.length ?? 0);
    if (isPaced) slowDown(chunk.length);
  });
  const appended = (chunk: Buffer, at: number): Buffer => {
    isPooled = true;
    let into = held ?? store.get(Math.min(declared, isKnown ? TRUSTED_BYTES : 2 * chunk.length));
    if (into.length < at + chunk.length) {
      const larger = store.get(Math.min(declared, 2 * (at + chunk.length)));
      into.copy(larger, 0, 0, at);
      store.release(into);
      into = larger;
    }
    chunk.copy(into, at);
    return into;
  };
  source.on("end", () => {
    if (settled) return;
    place.complete();
    if (!isKept) {
      place.release();
      settle({ kind: "too-large" });
      return;
    }
    const text = (): string => {
      const read = decode(held, received);
      releaseBuffer();
      return read;
    };
    settle({ kind: "whole", bytes: received, text, release: place.release });
  });
  source.on("error", () => {
    if (settled) return;
    place.release();
    releaseBuffer();
    settle({ kind: "cut-off" });
  });
}

function decode(held: Buffer | undefined, bytes: number): string {
  if (held === undefined) return "";
  const whole = held.subarray(0, bytes);
  // Most reviews are ASCII, and latin1 decodes several times faster than UTF-8.
  return whole.toString(isAscii(whole) ? "latin1" : "utf8");
}
