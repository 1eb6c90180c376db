/** Lets admissions that arrived together run together, for some milliseconds at a time, and few large ones in a turn. */
import { fairQueue } from "./fair-queue.ts";

type Turns = {
  /** Resolves once everything that has already arrived has been read from the network, and it is this body's turn. */
  readonly begin: (bytes: number, address: string) => Promise<void>;
  /** Resolves when its answer may leave: at the end of a turn with large ones, else at once. */
  readonly answer: (bytes: number) => Promise<void>;
};

/** A review of this size is parsed in half a millisecond, the largest in a hundred times that. */
export const LARGE_BYTES = 64 * 1024;

/**
 * Three reviews of Pods with 2 000 variables, a millisecond of work each: what ordinary Pods that come meanwhile wait for.
 * 512 KiB answer 5 % fewer large reviews, 1 MiB takes 15 MB more.
 */
export const LARGE_TURN_BYTES = 768 * 1024;

/**
 * For ordinary ones, in milliseconds: some twenty. Each listener accepts one connection between two turns, so long turns keep new
 * connections waiting: with turns of 40 ms, 700 clients that wait were in front of an API server for half a minute.
 */
const TURN_MS = 5;

/** A Pod without much around it. A shorter body costs as much. */
const USUAL_BYTES = 4 * 1024;

/**
 * Ordinary reviews that begin together, 16 of the usual size: two milliseconds of work. One after the other they take half as
 * much time again; more of them could make a turn much longer than `TURN_MS`.
 */
const TOGETHER_BYTES = 16 * USUAL_BYTES;

/**
 * Turns of the event loop after a turn of large reviews, which may take 100 ms: connections are accepted only then. There is one for
 * each `TURN_MS` it took, and no more than this. Always four would answer 3 % fewer large reviews and take 20 MB more.
 */
const MOST_LOOPS_AFTER_LARGE = 4;

/** While ordinary ones wait they get this many times the time of the large turn before: two thirds of it all. */
const ORDINARY_SHARE = 2;

type Waiting = { readonly bytes: number; readonly begin: () => void };

/**
 * An admission runs through so much code that bringing it into the processor's caches costs three times what running
 * it does, and reading the next request drives it out again. Requests that wait at the same time share that cost; a
 * single one begins at once. Large reviews have turns of their own, each with one review at least and as many
 * as fit its bytes. Each is answered before the next is parsed, so only one is in memory as objects. Their answers leave
 * together, because waking a client between two of them costs more than the answer. Addresses take turns, whatever each
 * of them sends, and large ones wait longer where ordinary ones wait too.
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
  const beginTogether = (): void => {
    let takenBytes = 0;
    while (takenBytes < TOGETHER_BYTES) {
      const next = ordinary.shift();
      if (next === undefined) return;
      takenBytes += Math.max(next.bytes, USUAL_BYTES);
      next.begin();
    }
  };
  const runOrdinary = async (): Promise<void> => {
    const startMs = nowMs();
    do {
      beginTogether();
      // The time they take counts only beside large ones.
      if (ordinary.isEmpty() && !isRunning) break;
      await everythingReady();
    } while (!ordinary.isEmpty() && nowMs() - startMs < TURN_MS);
    ordinaryMs += nowMs() - startMs;
    isOrdinaryDue = false;
    if (!ordinary.isEmpty()) scheduleOrdinary();
  };
  const scheduleOrdinary = (): void => {
    if (isOrdinaryDue) return;
    isOrdinaryDue = true;
    // Runs right after the sockets that are readable now have been read.
    setImmediate(() => void runOrdinary());
  };
  /** New connections and ordinary reviews get their time after a turn of large reviews. */
  const othersAfter = async (largeMs: number): Promise<void> => {
    const dueMs = ordinaryMs + ORDINARY_SHARE * largeMs;
    const loops = Math.min(MOST_LOOPS_AFTER_LARGE, Math.max(1, Math.floor(largeMs / TURN_MS)));
    for (let loop = 0; loop < loops; loop += 1) await loopOfNode();
    while (!ordinary.isEmpty() && ordinaryMs <= dueMs) await loopOfNode();
  };
  const runLarge = async (): Promise<void> => {
    isRunning = true;
    // Sockets that are readable now may bring ordinary ones, which go first.
    await loopOfNode();
    while (!large.isEmpty()) {
      const startMs = nowMs();
      isLargeTurn = true;
      let takenBytes = 0;
      while (takenBytes < LARGE_TURN_BYTES) {
        const next = large.shift();
        if (next === undefined) break;
        takenBytes += next.bytes;
        next.begin();
        await everythingReady();
      }
      isLargeTurn = false;
      for (const leave of answered.splice(0)) leave();
      await othersAfter(nowMs() - startMs);
    }
    isRunning = false;
  };
  return {
    begin: (bytes, address) =>
      new Promise((begin) => {
        if (bytes <= LARGE_BYTES) {
          ordinary.push(address, { bytes, begin });
          scheduleOrdinary();
        } else {
          large.push(address, { bytes, begin });
          if (!isRunning) void runLarge();
        }
      }),
    // One that had to wait for a look-up is no longer in a turn.
    answer: (bytes) => {
      if (bytes <= LARGE_BYTES || !isLargeTurn) return AT_ONCE;
      return new Promise((leave) => answered.push(leave));
    },
  };
}

const AT_ONCE = Promise.resolve();

/** Resolves when all that waits for nothing but earlier promises has run. */
function everythingReady(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Timers, sockets and the ordinary turn run in between. */
function loopOfNode(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
