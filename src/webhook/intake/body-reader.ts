/**
 * Reads a request body within limits, into one buffer that grows as bytes come: a length that is only declared takes no
 * memory. The framework's own reader hangs up on a sender that is still sending, and knows no other bodies beside it.
 */
import { isAscii } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { BodyShelf, Cut } from "./body-shelf.ts";
import { type BufferStore, KEPT_BUFFER_BYTES } from "./buffer-store.ts";
import type { Pace } from "./stranger-pace.ts";
import { LARGE_BYTES } from "./turn-runner.ts";

export type ReadBody =
  | WholeBody
  | { readonly kind: "too-large" }
  /** The connection ended before the body did. */
  | { readonly kind: "cut-off" }
  | RefusedBody;

export type RefusedBody = { readonly kind: "refused"; readonly why: Cut | "without_length" };

type WholeBody = {
  readonly kind: "whole";
  readonly bytes: number;
  /** To be called once. It takes the time of a copy. */
  readonly text: () => string;
  /** After the answer: the body no longer counts as one in flight. */
  readonly leave: () => void;
};

type BodyLimits = {
  /** Larger bodies are not kept. */
  readonly keepBytes: number;
  /** A too large body is still read so far, so that its sender sees the answer instead of a reset. */
  readonly discardBytes: number;
};

/** Calls `done` exactly once. */
type ReadBodyOf = (source: IncomingMessage, done: (body: ReadBody) => void) => void;

type ReaderParts = {
  readonly limits: BodyLimits;
  readonly shelf: BodyShelf;
  readonly store: BufferStore;
  readonly pace: Pace;
  /** Whether its connection has had a review answered. */
  readonly isKnown: (source: IncomingMessage) => boolean;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly later: (ms: number, act: () => void) => void;
};

export function bodyReader(parts: ReaderParts): ReadBodyOf {
  return (source, done) => {
    const declared = declaredBytes(source);
    // Every API server tells the length: its client sends the review from memory.
    if (declared === undefined) done({ kind: "refused", why: "without_length" });
    else if (declared > parts.limits.discardBytes) done({ kind: "too-large" });
    else readDeclared(source, declared, parts, done);
  };
}

/** Taken at once for the word of who has had a review answered: growing would cost a copy of most large reviews. */
const TRUSTED_BYTES = KEPT_BUFFER_BYTES;

/** Timers are no finer. */
const LEAST_PAUSE_MS = 1;

/** `undefined` when the body comes in chunks of any number. */
function declaredBytes({ headers }: IncomingMessage): number | undefined {
  if (headers["transfer-encoding"] !== undefined) return undefined;
  // The parser has seen to it that these are digits.
  return Number(headers["content-length"] ?? 0);
}

function readDeclared(
  source: IncomingMessage,
  declared: number,
  parts: ReaderParts,
  done: (body: ReadBody) => void,
): void {
  const { limits, shelf, store, nowMs } = parts;
  const isKnown = parts.isKnown(source);
  const isPaced = !isKnown && declared > LARGE_BYTES;
  const isKept = declared <= limits.keepBytes;
  let held: Buffer | undefined;
  /** A small body is one piece of the network, which is not ours to give out again. */
  let isOurs = false;
  let received = 0;
  let settled = false;
  const settle = (body: ReadBody): void => {
    if (settled) return;
    settled = true;
    done(body);
  };
  const letGo = (): void => {
    if (held !== undefined && isOurs) store.giveBack(held);
    held = undefined;
  };
  const from = {
    nowMs: nowMs(),
    isKnown,
    isSmall: declared <= LARGE_BYTES,
    address: source.socket?.remoteAddress ?? "",
  };
  const place = shelf.take(from, (why) => {
    letGo();
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
    isOurs = true;
    let into = held ?? store.get(Math.min(declared, isKnown ? TRUSTED_BYTES : 2 * chunk.length));
    if (into.length < at + chunk.length) {
      const larger = store.get(Math.min(declared, 2 * (at + chunk.length)));
      into.copy(larger, 0, 0, at);
      store.giveBack(into);
      into = larger;
    }
    chunk.copy(into, at);
    return into;
  };
  source.on("end", () => {
    if (settled) return;
    place.whole();
    if (!isKept) {
      place.leave();
      settle({ kind: "too-large" });
      return;
    }
    const text = (): string => {
      const read = decode(held, received);
      letGo();
      return read;
    };
    settle({ kind: "whole", bytes: received, text, leave: place.leave });
  });
  // Emitted as well when the sender hangs up in the middle.
  source.on("error", () => {
    if (settled) return;
    place.leave();
    letGo();
    settle({ kind: "cut-off" });
  });
}

function decode(held: Buffer | undefined, bytes: number): string {
  if (held === undefined) return "";
  const whole = held.subarray(0, bytes);
  // Nearly every review is plain ASCII, which is copied several times faster than UTF-8 is decoded.
  return whole.toString(isAscii(whole) ? "latin1" : "utf8");
}
