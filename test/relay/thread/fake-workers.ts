/** Creates fake workers and a clock that the test controls. */
import { Registry } from "prom-client";
import type { EventSpec } from "../../../src/api-server/event-object.ts";
import type { WorkerCallbacks, WorkerMessage, WorkerRequest } from "../../../src/relay/thread/relay-worker.ts";
import { type RelayThread, superviseWorker } from "../../../src/relay/thread/worker-supervisor.ts";

export type FakeThread = {
  readonly requests: readonly WorkerRequest["kind"][];
  readonly send: (message: WorkerMessage) => void;
  /** Exits the thread unexpectedly. */
  readonly fail: (why: string) => void;
  readonly wasTerminated: () => boolean;
};

export type SupervisedThread = RelayThread & {
  readonly threads: readonly FakeThread[];
  readonly newestThread: () => FakeThread;
  readonly events: readonly EventSpec[];
  readonly lines: readonly string[];
  readonly readOwnMetrics: () => Promise<string>;
  /** Advances the clock and resolves the sleeps that are due. */
  readonly advance: (ms: number) => Promise<void>;
};

export const ADDRESS = "10.96.0.7:8444";

/** @param failedStarts the number of attempts to create a thread that fail before the first success */
export function superviseFakeThread(address = ADDRESS, failedStarts = 0): SupervisedThread {
  let startCount = 0;
  const threads: FakeThread[] = [];
  const events: EventSpec[] = [];
  const lines: string[] = [];
  const registry = new Registry();
  const clock = createFakeClock();
  const createLogFunction = (level: string) => (_keys: object, sentence: string) => lines.push(`${level}: ${sentence}`);
  const supervised = superviseWorker({
    start: (callbacks) => {
      startCount += 1;
      if (startCount <= failedStarts) throw new Error("the limit of processes is reached");
      const { thread, fake } = createFakeThread(callbacks);
      threads.push(fake);
      return thread;
    },
    address,
    recordDrainEvent: (event) => events.push(event),
    newToken: () => "0123456789abcdef",
    wallMs: () => 1_000,
    clock,
    random: () => 0,
    log: { info: createLogFunction("info"), warn: createLogFunction("warn"), error: createLogFunction("error") },
    registry,
  });
  const newestThread = (): FakeThread => {
    const thread = threads.at(-1);
    if (thread === undefined) throw new Error("no thread was started");
    return thread;
  };
  return {
    ...supervised,
    threads,
    newestThread,
    events,
    lines,
    readOwnMetrics: () => registry.metrics(),
    advance: clock.advance,
  };
}

function createFakeThread({ onMessage, onExit }: WorkerCallbacks) {
  const requests: WorkerRequest["kind"][] = [];
  let wasTerminated = false;
  const thread = {
    send: (request: WorkerRequest) => {
      requests.push(request.kind);
    },
    terminate: async () => {
      wasTerminated = true;
      onExit(new Error("terminated"));
    },
  };
  const fail = (why: string): void => onExit(new Error(why));
  return { thread, fake: { requests, send: onMessage, fail, wasTerminated: () => wasTerminated } };
}

type Sleeper = { readonly untilMs: number; readonly wake: () => void };

function createFakeClock() {
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
    advance: async (ms: number) => {
      nowMs += ms;
      for (const sleeper of [...sleepers].filter(({ untilMs }) => untilMs <= nowMs)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
