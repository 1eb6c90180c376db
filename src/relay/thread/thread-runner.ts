/** Begins the relay's thread for real: the same program once more, in a thread of this process. */
import { Worker } from "node:worker_threads";
import { REAL_CLOCK } from "../slices/clock.ts";
import { type Hearing, type KeeperParts, keepRelayThread, type RelayThread, type Thread } from "./thread-keeper.ts";
import type { ThreadOrder, ThreadSettings, ThreadWord } from "./thread-words.ts";

export type RunnerParts = Omit<KeeperParts, "begin" | "clock" | "random"> & {
  /** The program's file. */
  readonly program: string;
  readonly settings: ThreadSettings;
};

/**
 * In MiB, of the thread's JavaScript heap. A thread that needs more is ended and started again, before the whole
 * process would be: admissions must not end because of it.
 */
export const HEAP_LIMIT_MIB = 640;

/** Of the container's memory; the rest is for admissions and for what TLS holds outside of that heap. */
const HEAP_SHARE = 5 / 12;
const MIB = 1_048_576;

/**
 * Less than the limit where the container is small: there the whole process would be ended first.
 *
 * @param containerBytes 0 when there is no limit or it is not known
 */
export function heapLimitMiB(containerBytes: number): number {
  if (containerBytes === 0) return HEAP_LIMIT_MIB;
  return Math.min(HEAP_LIMIT_MIB, Math.floor((containerBytes / MIB) * HEAP_SHARE));
}

/** The word of the program that begins the thread. */
const COMMAND = "relay-thread";

export function startRelayThread({ program, settings, ...parts }: RunnerParts): RelayThread {
  const heapMiB = heapLimitMiB(process.constrainedMemory());
  const begin = (hearing: Hearing): Thread => threadOf(program, { settings, heapMiB }, hearing);
  return keepRelayThread({ ...parts, begin, clock: REAL_CLOCK, random: Math.random });
}

type Beginning = { readonly settings: ThreadSettings; readonly heapMiB: number };

/** @param program gets `relay-thread` as its first word */
export function threadOf(program: string, { settings, heapMiB }: Beginning, hearing: Hearing): Thread {
  const worker = new Worker(program, {
    name: COMMAND,
    argv: [COMMAND],
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB },
  });
  let why: unknown;
  worker.on("message", (word: ThreadWord) => hearing.said(word));
  worker.on("error", (error) => {
    why = error;
  });
  worker.once("exit", (status) => hearing.ended(why ?? new Error(`the thread ended with status ${status}`)));
  return {
    order: (order: ThreadOrder) => worker.postMessage(order),
    end: async () => {
      await worker.terminate();
    },
  };
}
