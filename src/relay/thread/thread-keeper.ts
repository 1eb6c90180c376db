/**
 * The admissions' side of the relay's thread: keeps what it said last, starts it again when it ends, and never waits
 * for it without a limit. Time and threads come from outside.
 */
import type { Registry } from "prom-client";
import type { SendNote } from "../../api-server/event-sender.ts";
import { retryDelayMs } from "../../api-server/retry-delay.ts";
import type { GiveRelayAccess } from "../../contract/relay-access.ts";
import type { AccessIdentity } from "../identity/identity.ts";
import { readRelayAddress, relayAccess } from "../identity/relay-access.ts";
import { threadMeters } from "../metrics.ts";
import type { RelayLog } from "../relay.ts";
import type { Clock } from "../slices/clock.ts";
import type { ThreadOrder, ThreadWord } from "./thread-words.ts";

export type Thread = {
  readonly order: (order: ThreadOrder) => void;
  /** Whatever it does; resolves when it is gone. */
  readonly end: () => Promise<void>;
};

export type Hearing = {
  readonly said: (word: ThreadWord) => void;
  /** Once, also after `end`. */
  readonly ended: (why: unknown) => void;
};

export type KeeperParts = {
  /** Throws where the system gives no thread; then nothing is heard. */
  readonly begin: (hearing: Hearing) => Thread;
  /** As it was given: without an IP address and port in it, Pods get no relay. */
  readonly address: string;
  readonly tellDrain: SendNote;
  /** Random hexadecimal characters that were never given out before, at least 16. */
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
  /** `undefined` when Pods cannot be told where the relay is. Answers from memory, also while there is no thread. */
  readonly giveRelayAccess: GiveRelayAccess | undefined;
  /** Resolves when the relay serves, or after the limit, or when it has failed to begin. */
  readonly ready: (limitMs: number) => Promise<void>;
  /** The relay's metrics; empty when it does not answer in time, and `lastcall_relay_answering` is 0 then. */
  readonly figures: () => Promise<string>;
  /** Ends the open streams; resolves within a few seconds. */
  readonly leave: () => Promise<void>;
  /** Ends the thread once it has left, if it was told to. */
  readonly stop: () => Promise<void>;
};

/** Prometheus waits for ten seconds; no answer of the thread is waited for as long as that. */
export const FIGURES_LIMIT_MS = 1_000;
/** It leaves within a second, unless it is very busy. */
export const LEAVE_LIMIT_MS = 5_000;
/** One that lived this long ends for a new reason. */
const STEADY_MS = 60_000;

export function keepRelayThread(parts: KeeperParts): RelayThread {
  const { clock, log } = parts;
  const meters = threadMeters(parts.registry);
  const stopped = new AbortController();
  const ready = Promise.withResolvers<void>();
  let left = Promise.withResolvers<void>();
  let identity: AccessIdentity = { generations: [], keys: [] };
  let thread: Thread | undefined;
  let failures = 0;
  let leaving: Promise<void> | undefined;
  let asked: PromiseWithResolvers<string> | undefined;

  const hear = (word: ThreadWord): void => {
    if (word.kind === "identity") identity = word.identity;
    else if (word.kind === "line") log[word.level](word.keys, word.sentence);
    else if (word.kind === "note") parts.tellDrain(word.note);
    else if (word.kind === "figures") answered(word.text);
    else if (word.kind === "ready") ready.resolve();
    else left.resolve();
  };
  const answered = (text: string): void => {
    asked?.resolve(text);
    asked = undefined;
  };

  const begin = (): void => {
    const beganMs = clock.nowMs();
    meters.begun();
    // Of this one: what an earlier one left behind says nothing of it.
    left = Promise.withResolvers();
    const ended = (why: unknown): void => {
      thread = undefined;
      answered("");
      ready.resolve();
      left.resolve();
      if (stopped.signal.aborted) return;
      failures = clock.nowMs() - beganMs < STEADY_MS ? failures + 1 : 1;
      const pauseMs = retryDelayMs(failures, parts.random());
      log.error({ err: why, pauseMs }, "the relay's thread ended, another one is begun; admissions go on");
      void clock.sleep(pauseMs, stopped.signal).then(() => {
        if (!stopped.signal.aborted && leaving === undefined) begin();
      });
    };
    try {
      thread = parts.begin({ said: hear, ended });
    } catch (error) {
      ended(error);
    }
  };

  /** Callers that ask meanwhile share the answer: a busy thread must not find a heap of questions. */
  const ask = (): Promise<string> => {
    if (thread === undefined) return Promise.resolve("");
    if (asked === undefined) {
      asked = Promise.withResolvers<string>();
      thread.order({ kind: "figures" });
    }
    return asked.promise;
  };

  const leave = async (): Promise<void> => {
    if (thread === undefined) return;
    thread.order({ kind: "leave" });
    await within(clock, LEAVE_LIMIT_MS, left.promise);
  };

  begin();
  return {
    giveRelayAccess: accessOf(parts, () => identity),
    ready: (limitMs) => within(clock, limitMs, ready.promise).then(() => undefined),
    figures: async () => {
      const text = (await within(clock, FIGURES_LIMIT_MS, ask())) ?? "";
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
      await thread?.end();
    },
  };
}

function accessOf(parts: KeeperParts, identity: () => AccessIdentity): GiveRelayAccess | undefined {
  const address = readRelayAddress(parts.address);
  if (address !== undefined) {
    return relayAccess(address, { identity, wallMs: parts.wallMs, newNonce: parts.newToken });
  }
  const given = parts.address.slice(0, 100);
  parts.log.warn({ address: given }, "the relay's address is no IP address with a port, Pods are not given the relay");
  return undefined;
}

/** `undefined` when it took longer. */
async function within<T>(clock: KeeperParts["clock"], limitMs: number, awaited: Promise<T>): Promise<T | undefined> {
  const done = new AbortController();
  const late = clock.sleep(limitMs, done.signal).then(() => undefined);
  try {
    return await Promise.race([awaited, late]);
  } finally {
    done.abort();
  }
}
