/**
 * Annotations of a namespace: from the cache, else by waiting a moment for the watch to show it. Nothing is asked for by
 * a name that came in a review: anyone can send one.
 */
import { isDnsLabel } from "../../contract/outside-text.ts";
import type { KeptAnnotations } from "./kept-objects.ts";

/** An admission must not wait longer for a namespace, in milliseconds. A watch is behind by a few. */
export const ARRIVAL_LIMIT_MS = 300;

/** Long enough that a burst of Pods waits once while the API server is away, short enough to wait again soon. */
const REMEMBER_MISSED_MS = 3_000;
const REMEMBERED_LIMIT = 1_000;

/** Reviews that wait. A flood of a thousand a second leaves each a quarter of a second, many times what a watch needs. */
const WAITING_LIMIT = 256;
/** And their text together, of which the parsed form may take twenty times the memory. A larger one does not wait. */
const WAITING_LIMIT_CHARACTERS = 4 * 1024 * 1024;

type ArrivalPorts = {
  readonly cached: (name: string) => KeptAnnotations | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Calls once after so many milliseconds, unless the answer is called before. */
  readonly later: (ms: number, call: () => void) => () => void;
};

type NamespaceArrivals = {
  /** Never rejects; empty when nothing could be learnt. `characters`: what is held while it waits. */
  readonly annotations: (name: string, characters: number) => Promise<KeptAnnotations>;
  readonly isKnown: (name: string) => boolean;
  /** To be called when the cache has changed. */
  readonly look: () => void;
};

type Waiter = { readonly name: string; readonly characters: number; readonly end: (found: KeptAnnotations) => void };

const NOTHING: KeptAnnotations = {};

export function namespaceArrivals({ cached, nowMs, later }: ArrivalPorts): NamespaceArrivals {
  const missed = new Map<string, number>();
  /** The one that has waited longest comes first. */
  const waiting = new Set<Waiter>();
  let characters = 0;

  const miss = (name: string): void => {
    missed.delete(name);
    missed.set(name, nowMs() + REMEMBER_MISSED_MS);
    const [oldest] = missed.keys();
    if (missed.size > REMEMBERED_LIMIT && oldest !== undefined) missed.delete(oldest);
  };

  /** The newcomer waits and the longest waiter gives up: a flood shortens the wait of all and denies it to none. */
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
      const cancel = later(ARRIVAL_LIMIT_MS, () => {
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
    look: () => {
      for (const waiter of waiting) {
        const found = cached(waiter.name);
        if (found !== undefined) waiter.end(found);
      }
    },
  };
}
