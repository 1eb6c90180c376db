/** Restarts the relay's worker thread, and serves admissions from its last messages without waiting for it. */
import type { Registry } from "prom-client";
import type { RecordEvent } from "../../api-server/event-recorder.ts";
import { retryDelayMs } from "../../api-server/retry-delay.ts";
import type { IssueRelayAccess } from "../../contract/relay-access.ts";
import type { IssuerIdentity } from "../identity/identity.ts";
import { createAccessIssuer, readRelayAddress } from "../identity/relay-access.ts";
import { threadMetrics } from "../metrics.ts";
import type { RelayLog } from "../relay.ts";
import { type Clock, REAL_CLOCK } from "../slices/clock.ts";
import {
  heapLimitMiB,
  type RelayWorker,
  startWorker,
  type WorkerCallbacks,
  type WorkerMessage,
  type WorkerSettings,
} from "./relay-worker.ts";

type SupervisorParts = {
  readonly start: (callbacks: WorkerCallbacks) => RelayWorker;
  /** The configured text; unless it is an IP address and a port, Pods are injected without the relay. */
  readonly address: string;
  readonly recordDrainEvent: RecordEvent;
  /** Returns a unique text of at least 16 hexadecimal characters. */
  readonly newToken: () => string;
  readonly wallMs: () => number;
  readonly clock: Pick<Clock, "nowMs" | "sleep">;
  readonly random: () => number;
  readonly log: RelayLog;
  readonly registry: Registry;
};

export type RelayThread = {
  readonly issueRelayAccess: IssueRelayAccess | undefined;
  readonly waitUntilReady: (limitMs: number) => Promise<void>;
  /** The thread's metrics; empty, with `lastcall_relay_answering` 0, when it does not respond in time. */
  readonly metrics: () => Promise<string>;
  /** Ends the open streams; resolves within a few seconds. */
  readonly endStreams: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type RelayThreadParts = Omit<SupervisorParts, "start" | "clock" | "random"> & {
  readonly program: string;
  readonly settings: WorkerSettings;
};

/** Much shorter than Prometheus' scrape timeout of 10 s. */
export const METRICS_LIMIT_MS = 1_000;
export const END_STREAMS_LIMIT_MS = 5_000;
/** A thread that ran longer resets the retry delay. */
const STABLE_RUN_MS = 60_000;

export function startRelayThread({ program, settings, ...parts }: RelayThreadParts): RelayThread {
  const options = { settings, heapMiB: heapLimitMiB(process.constrainedMemory()) };
  const start = (callbacks: WorkerCallbacks): RelayWorker => startWorker(program, options, callbacks);
  return superviseWorker({ ...parts, start, clock: REAL_CLOCK, random: Math.random });
}

export function superviseWorker(parts: SupervisorParts): RelayThread {
  const { clock, log } = parts;
  const ownMetrics = threadMetrics(parts.registry);
  const stopController = new AbortController();
  const ready = Promise.withResolvers<void>();
  let streamsEnded = Promise.withResolvers<void>();
  let identity: IssuerIdentity = { cas: [], keys: [] };
  let worker: RelayWorker | undefined;
  let failureCount = 0;
  let streamsEnding: Promise<void> | undefined;
  let pendingMetrics: PromiseWithResolvers<string> | undefined;

  const onMetrics = (text: string): void => {
    pendingMetrics?.resolve(text);
    pendingMetrics = undefined;
  };

  const onMessage = (message: WorkerMessage): void => {
    if (message.kind === "identity") identity = message.identity;
    else if (message.kind === "line") log[message.level](message.keys, message.sentence);
    else if (message.kind === "event") parts.recordDrainEvent(message.event);
    else if (message.kind === "metrics") onMetrics(message.text);
    else if (message.kind === "ready") ready.resolve();
    else streamsEnded.resolve();
  };

  const start = (): void => {
    const startedMs = clock.nowMs();
    ownMetrics.countStart();
    streamsEnded = Promise.withResolvers();
    const onExit = (why: unknown): void => {
      worker = undefined;
      onMetrics("");
      ready.resolve();
      streamsEnded.resolve();
      if (stopController.signal.aborted) return;
      failureCount = clock.nowMs() - startedMs < STABLE_RUN_MS ? failureCount + 1 : 1;
      const pauseMs = retryDelayMs(failureCount, parts.random());
      log.error({ err: why, pauseMs }, "the relay's thread exited and will be restarted; admissions continue");
      void clock.sleep(pauseMs, stopController.signal).then(() => {
        if (!stopController.signal.aborted && streamsEnding === undefined) start();
      });
    };
    try {
      worker = parts.start({ onMessage, onExit });
    } catch (error) {
      onExit(error);
    }
  };

  /** Concurrent callers share one request, so that requests do not pile up at a busy thread. */
  const requestMetrics = (): Promise<string> => {
    if (worker === undefined) return Promise.resolve("");
    if (pendingMetrics === undefined) {
      pendingMetrics = Promise.withResolvers<string>();
      worker.send({ kind: "metrics" });
    }
    return pendingMetrics.promise;
  };

  const requestStreamsEnd = async (): Promise<void> => {
    worker?.send({ kind: "end-streams" });
    if (worker !== undefined) await withTimeout(clock, END_STREAMS_LIMIT_MS, streamsEnded.promise);
  };

  start();
  return {
    issueRelayAccess: createIssuer(parts, () => identity),
    waitUntilReady: (limitMs) => withTimeout(clock, limitMs, ready.promise).then(() => undefined),
    metrics: async () => {
      const text = (await withTimeout(clock, METRICS_LIMIT_MS, requestMetrics())) ?? "";
      ownMetrics.setAnswering(text !== "");
      return text;
    },
    endStreams: () => {
      streamsEnding ??= requestStreamsEnd();
      return streamsEnding;
    },
    stop: async () => {
      await streamsEnding;
      stopController.abort();
      await worker?.terminate();
    },
  };
}

function createIssuer(parts: SupervisorParts, identity: () => IssuerIdentity): IssueRelayAccess | undefined {
  const address = readRelayAddress(parts.address);
  if (address !== undefined)
    return createAccessIssuer(address, { identity, wallMs: parts.wallMs, newNonce: parts.newToken });
  const keys = { address: parts.address.slice(0, 100) };
  parts.log.warn(keys, "--relay-address is not an IP address with a port; Pods are injected without the relay");
  return undefined;
}

async function withTimeout<T>(
  clock: SupervisorParts["clock"],
  limitMs: number,
  result: Promise<T>,
): Promise<T | undefined> {
  const settled = new AbortController();
  const timeout = clock.sleep(limitMs, settled.signal).then(() => undefined);
  return Promise.race([result, timeout]).finally(() => settled.abort());
}
