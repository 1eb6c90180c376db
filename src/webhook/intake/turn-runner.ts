/** Schedules admissions: small reviews in batches of a few milliseconds, and a few large reviews per turn of the event loop. */
import { createFairQueue } from "./fair-queue.ts";

type Turns = {
  /** Resolves when the readable sockets have been read and the review may be parsed. */
  readonly start: (bytes: number, address: string) => Promise<void>;
  /** Resolves when the response may be sent: for a large review at the end of its turn, otherwise immediately. */
  readonly finish: (bytes: number) => Promise<void>;
};

/** A review of this size takes 0.5 ms to parse, the largest 50 ms. */
export const LARGE_BYTES = 64 * 1024;

/**
 * Size of three reviews of Pods with 2,000 environment variables. Each review takes 1 ms, and delays small reviews. With a limit of
 * 512 KiB the throughput of large reviews is 5 % lower; a limit of 1 MiB takes 15 MB more memory.
 */
export const LARGE_TURN_BYTES = 768 * 1024;

/**
 * Enough for about twenty small reviews. Each listener accepts one connection between two turns, so long turns delay new connections: with
 * turns of 40 ms, 700 waiting clients delayed an API server by half a minute.
 */
const TURN_MS = 5;

/** Size of the review of a small Pod. Smaller bodies count as this size, because they take the same time. */
const MIN_COUNTED_BYTES = 4 * 1024;

/** 16 small reviews, which take 2 ms. Without batches they take 50 % longer; larger batches could far exceed `TURN_MS`. */
const BATCH_BYTES = 16 * MIN_COUNTED_BYTES;

/**
 * After a turn of large reviews, the event loop turns once for each `TURN_MS` that the reviews took, at most this many times, to
 * accept connections. If there were always four turns, the throughput of large reviews would be 3 % lower, with 20 MB more memory.
 */
const MAX_TURNS_AFTER_LARGE = 4;

/** After a turn of large reviews, waiting small reviews get this multiple of its duration: two thirds of the total time. */
const SMALL_TIME_FACTOR = 2;

type WaitingReview = { readonly bytes: number; readonly begin: () => void };

/**
 * Loading an admission's code into the CPU caches takes three times as long as running it, and reading the next request evicts
 * the code. A batch of small reviews loads the code once; a single review starts immediately. A turn of large reviews runs one or
 * more reviews up to `LARGE_TURN_BYTES`. Each review is completed before the next is parsed, so only one review's objects are in memory.
 * Their responses are sent together at the end of the turn, which takes less time. Both queues are round-robin by address.
 *
 * @param nowMs monotonic milliseconds
 */
export function createTurns(nowMs: () => number): Turns {
  const smallReviews = createFairQueue<WaitingReview>();
  const largeReviews = createFairQueue<WaitingReview>();
  let isSmallScheduled = false;
  let isLargeRunning = false;
  let isLargeTurn = false;
  let smallMs = 0;
  const pendingResponses: (() => void)[] = [];
  const startBatch = (): void => {
    let startedBytes = 0;
    while (startedBytes < BATCH_BYTES) {
      const next = smallReviews.shift();
      if (next === undefined) return;
      startedBytes += Math.max(next.bytes, MIN_COUNTED_BYTES);
      next.begin();
    }
  };
  const runSmall = async (): Promise<void> => {
    const startMs = nowMs();
    do {
      startBatch();
      // The time of small reviews is measured only while large reviews wait.
      if (smallReviews.isEmpty() && !isLargeRunning) break;
      await waitForMicrotasks();
    } while (!smallReviews.isEmpty() && nowMs() - startMs < TURN_MS);
    smallMs += nowMs() - startMs;
    isSmallScheduled = false;
    if (!smallReviews.isEmpty()) scheduleSmall();
  };
  const scheduleSmall = (): void => {
    if (isSmallScheduled) return;
    isSmallScheduled = true;
    setImmediate(() => void runSmall());
  };
  const yieldAfter = async (largeMs: number): Promise<void> => {
    const dueMs = smallMs + SMALL_TIME_FACTOR * largeMs;
    const turns = Math.min(MAX_TURNS_AFTER_LARGE, Math.max(1, Math.floor(largeMs / TURN_MS)));
    for (let turn = 0; turn < turns; turn += 1) await waitForEventLoopTurn();
    while (!smallReviews.isEmpty() && smallMs <= dueMs) await waitForEventLoopTurn();
  };
  const runLarge = async (): Promise<void> => {
    isLargeRunning = true;
    // Readable sockets may contain small reviews, which have priority.
    await waitForEventLoopTurn();
    while (!largeReviews.isEmpty()) {
      const startMs = nowMs();
      isLargeTurn = true;
      let startedBytes = 0;
      while (startedBytes < LARGE_TURN_BYTES) {
        const next = largeReviews.shift();
        if (next === undefined) break;
        startedBytes += next.bytes;
        next.begin();
        await waitForMicrotasks();
      }
      isLargeTurn = false;
      for (const respond of pendingResponses.splice(0)) respond();
      await yieldAfter(nowMs() - startMs);
    }
    isLargeRunning = false;
  };
  return {
    start: (bytes, address) =>
      new Promise((begin) => {
        if (bytes <= LARGE_BYTES) {
          smallReviews.push(address, { bytes, begin });
          scheduleSmall();
        } else {
          largeReviews.push(address, { bytes, begin });
          if (!isLargeRunning) void runLarge();
        }
      }),
    // A large review that waited for its namespace may finish after its turn; its response is then sent immediately.
    finish: (bytes) => {
      if (bytes <= LARGE_BYTES || !isLargeTurn) return RESOLVED;
      return new Promise((respond) => pendingResponses.push(respond));
    },
  };
}

const RESOLVED = Promise.resolve();

function waitForMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function waitForEventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
