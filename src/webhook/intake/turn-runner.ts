/** Schedules admissions: small reviews in batches of a few milliseconds, and a few large reviews per turn of the event loop. */
import { fairQueue } from "./fair-queue.ts";

type Turns = {
  /** Resolves when the readable sockets have been read and the review may be parsed. */
  readonly start: (bytes: number, address: string) => Promise<void>;
  /** Resolves when the response may be sent: for a large review at the end of its turn, otherwise at once. */
  readonly finish: (bytes: number) => Promise<void>;
};

/** A review of this size takes 0.5 ms to parse, the largest 50 ms. */
export const LARGE_BYTES = 64 * 1024;

/**
 * Three reviews of Pods with 2,000 variables, 1 ms each, which delay small reviews. With 512 KiB the throughput of large reviews
 * is 5 % lower; 1 MiB takes 15 MB more memory.
 */
export const LARGE_TURN_BYTES = 768 * 1024;

/**
 * About twenty small reviews. Each listener accepts one connection between two turns, so long turns delay new connections: with
 * turns of 40 ms, 700 waiting clients delayed an API server by half a minute.
 */
const TURN_MS = 5;

/** The review of a small Pod. Shorter bodies count as this size, because they take the same time. */
const USUAL_BYTES = 4 * 1024;

/** 16 reviews of the usual size, 2 ms of work. Without batches they take 50 % longer; larger batches could far exceed `TURN_MS`. */
const BATCH_BYTES = 16 * USUAL_BYTES;

/**
 * After a turn of large reviews, the event loop turns once for each `TURN_MS` that it took, at most this often, to accept
 * connections. If there were always four turns, the throughput of large reviews would be 3 % lower, with 20 MB more memory.
 */
const MOST_LOOPS_AFTER_LARGE = 4;

/** After a turn of large reviews, waiting small reviews get this multiple of its time, so two thirds of the total time. */
const ORDINARY_SHARE = 2;

type Waiting = { readonly bytes: number; readonly begin: () => void };

/**
 * Loading an admission's code into the CPU caches takes three times as long as running it, and reading the next request evicts
 * the code. A batch of small reviews loads the code once; a single review starts at once. A turn of large reviews runs one or
 * more reviews up to `LARGE_TURN_BYTES`. Each is completed before the next is parsed, so the objects of only one are in memory.
 * Their responses are sent together at the end of the turn, which takes less time. Both queues are round-robin by address.
 *
 * @param nowMs monotonic milliseconds
 */
export function sharedTurns(nowMs: () => number): Turns {
  const ordinary = fairQueue<Waiting>();
  const large = fairQueue<Waiting>();
  let isOrdinaryDue = false;
  let isRunning = false;
  let isLargeTurn = false;
  let ordinaryMs = 0;
  const answered: (() => void)[] = [];
  const startBatch = (): void => {
    let takenBytes = 0;
    while (takenBytes < BATCH_BYTES) {
      const next = ordinary.shift();
      if (next === undefined) return;
      takenBytes += Math.max(next.bytes, USUAL_BYTES);
      next.begin();
    }
  };
  const runOrdinary = async (): Promise<void> => {
    const startMs = nowMs();
    do {
      startBatch();
      // The time of small reviews is measured only while large reviews wait.
      if (ordinary.isEmpty() && !isRunning) break;
      await microtasksDone();
    } while (!ordinary.isEmpty() && nowMs() - startMs < TURN_MS);
    ordinaryMs += nowMs() - startMs;
    isOrdinaryDue = false;
    if (!ordinary.isEmpty()) scheduleOrdinary();
  };
  const scheduleOrdinary = (): void => {
    if (isOrdinaryDue) return;
    isOrdinaryDue = true;
    setImmediate(() => void runOrdinary());
  };
  const yieldAfter = async (largeMs: number): Promise<void> => {
    const dueMs = ordinaryMs + ORDINARY_SHARE * largeMs;
    const loops = Math.min(MOST_LOOPS_AFTER_LARGE, Math.max(1, Math.floor(largeMs / TURN_MS)));
    for (let loop = 0; loop < loops; loop += 1) await eventLoopTurn();
    while (!ordinary.isEmpty() && ordinaryMs <= dueMs) await eventLoopTurn();
  };
  const runLarge = async (): Promise<void> => {
    isRunning = true;
    // Readable sockets may contain small reviews, which have priority.
    await eventLoopTurn();
    while (!large.isEmpty()) {
      const startMs = nowMs();
      isLargeTurn = true;
      let takenBytes = 0;
      while (takenBytes < LARGE_TURN_BYTES) {
        const next = large.shift();
        if (next === undefined) break;
        takenBytes += next.bytes;
        next.begin();
        await microtasksDone();
      }
      isLargeTurn = false;
      for (const leave of answered.splice(0)) leave();
      await yieldAfter(nowMs() - startMs);
    }
    isRunning = false;
  };
  return {
    start: (bytes, address) =>
      new Promise((begin) => {
        if (bytes <= LARGE_BYTES) {
          ordinary.push(address, { bytes, begin });
          scheduleOrdinary();
        } else {
          large.push(address, { bytes, begin });
          if (!isRunning) void runLarge();
        }
      }),
    // The turn of a large review that waited for its namespace may have ended.
    finish: (bytes) => {
      if (bytes <= LARGE_BYTES || !isLargeTurn) return AT_ONCE;
      return new Promise((leave) => answered.push(leave));
    },
  };
}

const AT_ONCE = Promise.resolve();

function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
