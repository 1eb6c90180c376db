/** Keeps the relay's thread running, and answers admissions from its last messages without waiting for it. */
import type { Registry } from "prom-client";
import type { RecordEvent } from "../../api-server/event-recorder.ts";
import { retryDelayMs } from "../../api-server/retry-delay.ts";
import type { GiveRelayAccess } from "../../contract/relay-access.ts";
import type { AccessIdentity } from "../identity/identity.ts";
import { readRelayAddress, relayAccess } from "../identity/relay-access.ts";
import { threadMeters } from "../metrics.ts";
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
  /** Throws where the system has no thread left; then it calls nothing back. */
  readonly start: (callbacks: WorkerCallbacks) => RelayWorker;
  /** As configured: Pods get no relay unless it is an IP address with a port. */
  readonly address: string;
  readonly tellDrain: RecordEvent;
  /** Hexadecimal characters that were never returned before, at least 16. */
  readonly newToken: () => string;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  readonly clock: Pick<Clock, "nowMs" | "sleep">;
  /** At least 0 and below 1. */
  readonly random: () => number;
  readonly log: RelayLog;
  readonly registry: Registry;
};

export type RelayThread = {
  /** From memory, also while there is no thread. `undefined` when the address cannot be given to Pods. */
  readonly giveRelayAccess: GiveRelayAccess | undefined;
  /** Resolves when the relay serves, or after the limit, or when it failed to start. */
  readonly ready: (limitMs: number) => Promise<void>;
  /** The relay's metrics; empty, with `lastcall_relay_answering` 0, when it does not answer in time. */
  readonly figures: () => Promise<string>;
  /** Ends the open streams; resolves within a few seconds. */
  readonly leave: () => Promise<void>;
  /** Waits for `leave` if that was called. */
  readonly stop: () => Promise<void>;
};

export type RunnerParts = Omit<SupervisorParts, "start" | "clock" | "random"> & {
  /** The program's file. */
  readonly program: string;
  readonly settings: WorkerSettings;
};

/** Prometheus itself waits for ten seconds. */
export const FIGURES_LIMIT_MS = 1_000;
/** An idle relay leaves within a second. */
export const LEAVE_LIMIT_MS = 5_000;
/** The end of a thread older than this does not count as a repeated failure. */
const STEADY_MS = 60_000;

export function startRelayThread({ program, settings, ...parts }: RunnerParts): RelayThread {
  const options = { settings, heapMiB: heapLimitMiB(process.constrainedMemory()) };
  const start = (callbacks: WorkerCallbacks): RelayWorker => startWorker(program, options, callbacks);
  return superviseWorker({ ...parts, start, clock: REAL_CLOCK, random: Math.random });
}

export function superviseWorker(parts: SupervisorParts): RelayThread {
  const { clock, log } = parts;
  const meters = threadMeters(parts.registry);
  const stopped = new AbortController();
  const ready = Promise.withResolvers<void>();
  let left = Promise.withResolvers<void>();
  let identity: AccessIdentity = { generations: [], keys: [] };
  let worker: RelayWorker | undefined;
  let failures = 0;
  let leaving: Promise<void> | undefined;
  let figures: PromiseWithResolvers<string> | undefined;

  const onFigures = (text: string): void => {
    figures?.resolve(text);
    figures = undefined;
  };

  const onMessage = (message: WorkerMessage): void => {
    if (message.kind === "identity") identity = message.identity;
    else if (message.kind === "line") log[message.level](message.keys, message.sentence);
    else if (message.kind === "note") parts.tellDrain(message.note);
    else if (message.kind === "figures") onFigures(message.text);
    else if (message.kind === "ready") ready.resolve();
    else left.resolve();
  };

  const start = (): void => {
    const startedMs = clock.nowMs();
    meters.begun();
    // An earlier thread may have resolved it.
    left = Promise.withResolvers();
    const onExit = (why: unknown): void => {
      worker = undefined;
      onFigures("");
      ready.resolve();
      left.resolve();
      if (stopped.signal.aborted) return;
      failures = clock.nowMs() - startedMs < STEADY_MS ? failures + 1 : 1;
      const pauseMs = retryDelayMs(failures, parts.random());
      log.error({ err: why, pauseMs }, "the relay's thread ended, another one is begun; admissions go on");
      void clock.sleep(pauseMs, stopped.signal).then(() => {
        if (!stopped.signal.aborted && leaving === undefined) start();
      });
    };
    try {
      worker = parts.start({ onMessage, onExit });
    } catch (error) {
      onExit(error);
    }
  };

  /** Concurrent callers share one request, so that none pile up at a busy thread. */
  const requestFigures = (): Promise<string> => {
    if (worker === undefined) return Promise.resolve("");
    if (figures === undefined) {
      figures = Promise.withResolvers<string>();
      worker.send({ kind: "figures" });
    }
    return figures.promise;
  };

  const leave = async (): Promise<void> => {
    worker?.send({ kind: "leave" });
    if (worker !== undefined) await within(clock, LEAVE_LIMIT_MS, left.promise);
  };

  start();
  return {
    giveRelayAccess: accessFor(parts, () => identity),
    ready: (limitMs) => within(clock, limitMs, ready.promise).then(() => undefined),
    figures: async () => {
      const text = (await within(clock, FIGURES_LIMIT_MS, requestFigures())) ?? "";
      meters.answering(text !== "");
      return text;
    },
    leave: () => {
      leaving ??= leave();
      return leaving;
    },
    stop: async () => {
      await leaving;
      stopped.abort();
      await worker?.terminate();
    },
  };
}

function accessFor(parts: SupervisorParts, identity: () => AccessIdentity): GiveRelayAccess | undefined {
  const address = readRelayAddress(parts.address);
  if (address !== undefined) return relayAccess(address, { identity, wallMs: parts.wallMs, newNonce: parts.newToken });
  const keys = { address: parts.address.slice(0, 100) };
  parts.log.warn(keys, "the relay's address is no IP address with a port, Pods are not given the relay");
  return undefined;
}

/** `undefined` when it took longer. */
async function within<T>(clock: SupervisorParts["clock"], limitMs: number, result: Promise<T>): Promise<T | undefined> {
  const done = new AbortController();
  const late = clock.sleep(limitMs, done.signal).then(() => undefined);
  return Promise.race([result, late]).finally(() => done.abort());
}
