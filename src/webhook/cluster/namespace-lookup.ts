/**
 * Returns the annotations of a namespace from the cache, or waits briefly until the watch delivers the namespace. Does not
 * request the namespace of a review from the API server, because any client can send reviews.
 */
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import type { KeptAnnotations } from "./kept-objects.ts";

/** Longest wait of an admission. A watch usually delivers a new namespace within a few milliseconds. */
export const LOOKUP_LIMIT_MS = 300;

/** After a wait without result, Pods of the namespace do not wait for this time. */
const MISS_TTL_MS = 3_000;
const MISS_LIMIT = 1_000;

/** Limit of waiting reviews. At 1,000 reviews a second, each waits up to 250 ms, many times the delay of a watch. */
const WAITING_LIMIT = 256;
/** Total length of waiting reviews. The parsed objects may take twenty times the memory. A larger review does not wait. */
const WAITING_LIMIT_CHARACTERS = 4 * 1024 * 1024;

type LookupPorts = {
  readonly cached: (name: string) => KeptAnnotations | undefined;
  readonly nowMs: () => number;
  /** Calls `call` once after `ms`. @returns a function that cancels the timer */
  readonly later: (ms: number, call: () => void) => () => void;
};

type NamespaceLookup = {
  /** Never rejects; empty for an unknown namespace. `characters`: length of the review that waits. */
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

  /** Over a limit, ends the oldest waits, so a flood shortens every wait, but does not prevent new waits. */
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
