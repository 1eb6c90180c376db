/**
 * Returns the annotations of a namespace from the cache, or waits briefly until the watch delivers the namespace. Does not
 * request the namespace of a review from the API server, because any client can send reviews.
 */
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import type { RelevantAnnotations } from "./reduced-objects.ts";

/** Longest wait of an admission. A watch usually delivers a new namespace within a few milliseconds. */
export const LOOKUP_LIMIT_MS = 300;

/** For this time after a wait without a result, Pods of the namespace are reviewed without a wait. */
const MISS_TTL_MS = 3_000;
const MISS_LIMIT = 1_000;

/** Limit of waiting reviews. At 1,000 reviews a second, each waits up to 250 ms, many times the delay of a watch. */
const WAITING_LIMIT = 256;
/** Total length of waiting reviews. The parsed objects may take twenty times the memory. A larger review does not wait. */
const WAITING_LIMIT_CHARACTERS = 4 * 1024 * 1024;

type LookupPorts = {
  readonly readCached: (name: string) => RelevantAnnotations | undefined;
  readonly nowMs: () => number;
  /** Calls `callback` once after `ms`. @returns a function that cancels the timer */
  readonly schedule: (ms: number, callback: () => void) => () => void;
};

type NamespaceLookup = {
  /** Never rejects; empty for an unknown namespace. `characters`: length of the review that waits. */
  readonly annotations: (name: string, characters: number) => Promise<RelevantAnnotations>;
  readonly isKnown: (name: string) => boolean;
  readonly notifyWaiters: () => void;
};

type Waiter = {
  readonly name: string;
  readonly characters: number;
  readonly end: (annotations: RelevantAnnotations) => void;
};

const NO_ANNOTATIONS: RelevantAnnotations = {};

export function createNamespaceLookup({ readCached, nowMs, schedule }: LookupPorts): NamespaceLookup {
  const missedUntilMs = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let waitingCharacters = 0;

  const recordMiss = (name: string): void => {
    missedUntilMs.delete(name);
    missedUntilMs.set(name, nowMs() + MISS_TTL_MS);
    const [oldest] = missedUntilMs.keys();
    if (missedUntilMs.size > MISS_LIMIT && oldest !== undefined) missedUntilMs.delete(oldest);
  };

  /** Over a limit, ends the oldest waits, so a flood shortens every wait, but does not prevent new waits. */
  const enforceLimits = (): void => {
    for (const waiter of waiters) {
      if (waiters.size <= WAITING_LIMIT && waitingCharacters <= WAITING_LIMIT_CHARACTERS) return;
      waiter.end(NO_ANNOTATIONS);
    }
  };

  const wait = (name: string, characters: number): Promise<RelevantAnnotations> =>
    new Promise((resolve) => {
      const waiter: Waiter = {
        name,
        characters,
        end: (annotations) => {
          if (!waiters.delete(waiter)) return;
          waitingCharacters -= characters;
          cancel();
          resolve(annotations);
        },
      };
      const cancel = schedule(LOOKUP_LIMIT_MS, () => {
        recordMiss(name);
        waiter.end(NO_ANNOTATIONS);
      });
      waiters.add(waiter);
      waitingCharacters += characters;
      enforceLimits();
    });

  return {
    annotations: async (name, characters) => {
      const cachedAnnotations = readCached(name);
      if (cachedAnnotations !== undefined) return cachedAnnotations;
      const hasMissedRecently = nowMs() < (missedUntilMs.get(name) ?? Number.NEGATIVE_INFINITY);
      const mayWait = isDnsLabel(name) && !hasMissedRecently && characters <= WAITING_LIMIT_CHARACTERS;
      return mayWait ? wait(name, characters) : NO_ANNOTATIONS;
    },
    isKnown: (name) => readCached(name) !== undefined,
    notifyWaiters: () => {
      for (const waiter of waiters) {
        const annotations = readCached(waiter.name);
        if (annotations !== undefined) waiter.end(annotations);
      }
    },
  };
}
