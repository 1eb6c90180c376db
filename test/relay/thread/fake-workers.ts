/** Workers and a clock that the test controls. */
import { Registry } from "prom-client";
import type { EventSpec } from "../../../src/api-server/event-object.ts";
import type { WorkerCallbacks, WorkerMessage, WorkerRequest } from "../../../src/relay/thread/relay-worker.ts";
import { type RelayThread, superviseWorker } from "../../../src/relay/thread/worker-supervisor.ts";

export type FakeThread = {
  readonly requests: readonly WorkerRequest["kind"][];
  readonly send: (word: WorkerMessage) => void;
  /** Exits the thread unexpectedly. */
  readonly fail: (why: string) => void;
  readonly wasEnded: () => boolean;
};

export type KeptThread = RelayThread & {
  readonly threads: readonly FakeThread[];
  readonly newest: () => FakeThread;
  readonly events: readonly EventSpec[];
  readonly lines: readonly string[];
  readonly ownMetrics: () => Promise<string>;
  /** Advances the clock and wakes what waits. */
  readonly turn: (ms: number) => Promise<void>;
};

export const ADDRESS = "10.96.0.7:8444";

/** @param refusals the number of first threads that cannot be created */
export function keptThread(address = ADDRESS, refusals = 0): KeptThread {
  let refused = 0;
  const threads: FakeThread[] = [];
  const notes: EventSpec[] = [];
  const lines: string[] = [];
  const registry = new Registry();
  const time = turnedTime();
  const line = (level: string) => (_keys: object, sentence: string) => lines.push(`${level}: ${sentence}`);
  const kept = superviseWorker({
    start: (callbacks) => {
      refused += 1;
      if (refused <= refusals) throw new Error("the limit of processes is reached");
      const { thread, fake } = fakeThread(callbacks);
      threads.push(fake);
      return thread;
    },
    address,
    recordDrainEvent: (note) => notes.push(note),
    newToken: () => "0123456789abcdef",
    wallMs: () => 1_000,
    clock: time,
    random: () => 0,
    log: { info: line("info"), warn: line("warn"), error: line("error") },
    registry,
  });
  const newest = (): FakeThread => {
    const thread = threads.at(-1);
    if (thread === undefined) throw new Error("no thread was started");
    return thread;
  };
  return { ...kept, threads, newest, events: notes, lines, ownMetrics: () => registry.metrics(), turn: time.turn };
}

function fakeThread({ onMessage, onExit }: WorkerCallbacks) {
  const requests: WorkerRequest["kind"][] = [];
  let wasEnded = false;
  const thread = {
    send: (request: WorkerRequest) => {
      requests.push(request.kind);
    },
    terminate: async () => {
      wasEnded = true;
      onExit(new Error("terminated"));
    },
  };
  const fail = (why: string): void => onExit(new Error(why));
  return { thread, fake: { requests, send: onMessage, fail, wasEnded: () => wasEnded } };
}

type Sleeper = { readonly untilMs: number; readonly wake: () => void };

function turnedTime() {
  let nowMs = 0;
  const sleepers = new Set<Sleeper>();
  return {
    nowMs: () => nowMs,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const sleeper = { untilMs: nowMs + ms, wake: resolve };
        sleepers.add(sleeper);
        signal.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          resolve();
        });
      }),
    turn: async (ms: number) => {
      nowMs += ms;
      for (const sleeper of [...sleepers].filter(({ untilMs }) => untilMs <= nowMs)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
