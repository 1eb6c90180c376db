/** Lets admissions that arrived together run together, for some milliseconds at a time, and few large ones in a turn. */
import { fairQueue } from "./fair-queue.ts";

export type Turns = {
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

/** Between two turns of large ones, each of which may take 100 ms: connections are accepted only then. */
const LOOPS_BETWEEN_LARGE_TURNS = 4;

/** While ordinary ones wait they get this many times the time of the large turn before: two thirds of it all. */
const ORDINARY_SHARE = 2;

/**
 * An admission runs through so much code that bringing it into the processor's caches costs three times what running
 * it does, and reading the next request drives it out again. Requests that wait at the same time share that cost; one
 * that comes alone waits for nothing. Large reviews have turns of their own, each with one review at least
 * and as many as fit its bytes. Each is answered before the next is parsed, so only one is in memory as objects. Their answers leave together, because waking
 * a client between two of them costs more than the answer. Addresses take turns, whatever each of them sends, and large ones
 * wait longer where ordinary ones wait too.
 *
 * @param nowMs monotonic milliseconds
 */
export function sharedTurns(nowMs: () => number): Turns {
  const ordinary = fairQueue<() => void>();
  const large = fairQueue<{ readonly bytes: number; readonly begin: () => void }>();
  let isOrdinaryDue = false;
  let isRunning = false;
  let isLargeTurn = false;
  let ordinaryMs = 0;
  const answered: (() => void)[] = [];
  const runOrdinary = async (): Promise<void> => {
    const startMs = nowMs();
    while (nowMs() - startMs < TURN_MS) {
      const begin = ordinary.shift();
      if (begin === undefined) break;
      begin();
      await everythingReady();
    }
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
  const ordinaryUntil = async (dueMs: number): Promise<void> => {
    for (let loop = 0; loop < LOOPS_BETWEEN_LARGE_TURNS; loop += 1) await loopOfNode();
    while (!ordinary.isEmpty() && ordinaryMs < dueMs) await loopOfNode();
  };
  const runLarge = async (): Promise<void> => {
    isRunning = true;
    let owedMs = 0;
    while (!large.isEmpty()) {
      await ordinaryUntil(owedMs);
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
      owedMs = ordinaryMs + ORDINARY_SHARE * (nowMs() - startMs);
    }
    isRunning = false;
  };
  return {
    begin: (bytes, address) =>
      new Promise((begin) => {
        if (bytes <= LARGE_BYTES) {
          ordinary.push(address, begin);
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
