/** Schedules admissions: small ones in batches of a few milliseconds, large ones a few per turn of the event loop. */
import { fairQueue } from "./fair-queue.ts";

type Turns = {
  /** Resolves when sockets that were readable have been read and it is this body's turn. */
  readonly start: (bytes: number, address: string) => Promise<void>;
  /** Resolves when the response may be sent: at the end of a turn of large reviews, otherwise at once. */
  readonly finish: (bytes: number) => Promise<void>;
};

/** A review of this size takes 0.5 ms to parse, the largest 50 ms. */
export const LARGE_BYTES = 64 * 1024;

/**
 * Three reviews of Pods with 2,000 variables, 1 ms each: the delay of small reviews that arrive meanwhile. With 512 KiB 5 %
 * fewer large reviews are answered; 1 MiB takes 15 MB more memory.
 */
export const LARGE_TURN_BYTES = 768 * 1024;

/**
 * About twenty small reviews. Each listener accepts one connection between two turns, so long turns delay new connections: with
 * 40 ms, 700 waiting clients delayed an API server by half a minute.
 */
const TURN_MS = 5;

/** A small Pod. Shorter bodies cost as much. */
const USUAL_BYTES = 4 * 1024;

/**
 * 16 reviews of the usual size, 2 ms of work. Unbatched they take 50 % longer; a larger batch could exceed `TURN_MS` by much.
 */
const BATCH_BYTES = 16 * USUAL_BYTES;

/**
 * Turns of the event loop that follow a turn of large reviews, in which connections are accepted: one for each `TURN_MS` that it
 * took, up to this. Always four would answer 3 % fewer large reviews and take 20 MB more.
 */
const MOST_LOOPS_AFTER_LARGE = 4;

/** Waiting small reviews get this multiple of the time of the last large turn: two thirds of all time. */
const ORDINARY_SHARE = 2;

type Waiting = { readonly bytes: number; readonly begin: () => void };

/**
 * An admission runs so much code that loading it into the CPU caches costs three times its execution, and reading the next
 * request evicts it. A batch shares that cost; a single review starts at once. A large turn runs at least one review and as
 * many as fit its bytes; each is answered before the next is parsed, so only one is in memory as objects. Their responses
 * are sent together, because waking a client in between costs more than a response. Both queues are round-robin by address.
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
      // Their time counts only while large reviews wait.
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
    // Readable sockets may carry small reviews, which go first.
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
    // A review that waited for a namespace is no longer in its turn.
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
