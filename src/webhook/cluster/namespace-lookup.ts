/**
 * Returns the annotations of a namespace from the cache, or waits briefly for the watch to deliver it. Sends no request for a
 * namespace in a review, because any client can send reviews.
 */
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import type { KeptAnnotations } from "./kept-objects.ts";

/** Longest wait of an admission. A watch lags by a few milliseconds. */
export const LOOKUP_LIMIT_MS = 300;

/** While the API server is down, a burst of Pods waits once in this time. */
const MISS_TTL_MS = 3_000;
const MISS_LIMIT = 1_000;

/** Waiting reviews. At 1,000 a second each still waits 250 ms, many times the lag of a watch. */
const WAITING_LIMIT = 256;
/** Total text of waiting reviews; parsed, it may take twenty times the memory. A larger review does not wait. */
const WAITING_LIMIT_CHARACTERS = 4 * 1024 * 1024;

type LookupPorts = {
  readonly cached: (name: string) => KeptAnnotations | undefined;
  readonly nowMs: () => number;
  /** Calls once after this time. @returns a function that cancels it */
  readonly later: (ms: number, call: () => void) => () => void;
};

type NamespaceLookup = {
  /** Never rejects; empty for an unknown namespace. `characters`: length of the waiting review. */
  readonly annotations: (name: string, characters: number) => Promise<KeptAnnotations>;
  readonly isKnown: (name: string) => boolean;
  readonly notifyWaiters: () => void;
};

type Waiter = { readonly name: string; readonly characters: number; readonly end: (found: KeptAnnotations) => void };

const NOTHING: KeptAnnotations = {};

export function createNamespaceLookup({ cached, nowMs, later }: LookupPorts): NamespaceLookup {
  const missed = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let characters = 0;

  const miss = (name: string): void => {
    missed.delete(name);
    missed.set(name, nowMs() + MISS_TTL_MS);
    const [oldest] = missed.keys();
    if (missed.size > MISS_LIMIT && oldest !== undefined) missed.delete(oldest);
  };

  /** Ends the longest waits: a flood shortens every wait, and denies none. */
  const makeRoom = (): void => {
    for (const waiter of waiting) {
      if (waiting.size <= WAITING_LIMIT && characters <= WAITING_LIMIT_CHARACTERS) return;
      waiter.end(NOTHING);
    }
  };

  const wait = (name: string, size: number): Promise<KeptAnnotations> =>
    new Promise((resolve) => {
      const waiter: Waiter = {
        name,
        characters: size,
        end: (found) => {
          if (!waiting.delete(waiter)) return;
          characters -= size;
          cancel();
          resolve(found);
        },
      };
      const cancel = later(LOOKUP_LIMIT_MS, () => {
        miss(name);
        waiter.end(NOTHING);
      });
      waiting.add(waiter);
      characters += size;
      makeRoom();
    });

  return {
    annotations: async (name, size) => {
      const known = cached(name);
      if (known !== undefined) return known;
      const missedRecently = nowMs() < (missed.get(name) ?? Number.NEGATIVE_INFINITY);
      const mayWait = isDnsLabel(name) && !missedRecently && size <= WAITING_LIMIT_CHARACTERS;
      return mayWait ? wait(name, size) : NOTHING;
    },
    isKnown: (name) => cached(name) !== undefined,
    notifyWaiters: () => {
      for (const waiter of waiting) {
        const found = cached(waiter.name);
        if (found !== undefined) waiter.end(found);
      }
    },
  };
}
