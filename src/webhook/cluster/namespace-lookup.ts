/** Annotations of a namespace: from the cache, else by one question to the API server that many Pods share. */
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { type KeptAnnotations, keepNamespace } from "./namespace-annotations.ts";

/** An admission must not wait longer for a namespace, in milliseconds. */
export const LOOKUP_LIMIT_MS = 300;

/** Long enough for the watch to bring the namespace. */
const REMEMBER_FOUND_MS = 10_000;
/** Long enough that a burst of Pods waits once, short enough to ask again soon. */
const REMEMBER_FAILED_MS = 3_000;
const REMEMBERED_LIMIT = 1_000;

export type LookupPorts = {
  readonly cached: (name: string) => KeptAnnotations | undefined;
  /** Rejects, or answers within {@link LOOKUP_LIMIT_MS}; `undefined` when there is no such namespace. */
  readonly fetch: (name: string) => Promise<RawObject | undefined>;
  readonly nowMs: () => number;
};

export type NamespaceLookup = {
  /** Never rejects; empty when nothing could be learnt. */
  readonly annotations: (name: string) => Promise<KeptAnnotations>;
  /** Whether the last answer for this namespace was empty for want of knowledge. */
  readonly isUnknown: (name: string) => boolean;
};

type Remembered = { readonly annotations: KeptAnnotations | undefined; readonly untilMs: number };

const NOTHING: KeptAnnotations = {};

export function namespaceLookup({ cached, fetch, nowMs }: LookupPorts): NamespaceLookup {
  const remembered = new Map<string, Remembered>();
  const asked = new Map<string, Promise<Remembered>>();

  const ask = async (name: string): Promise<Remembered> => {
    const annotations = await fetch(name).then(
      (found) => (found === undefined ? undefined : keepNamespace(found)),
      () => undefined,
    );
    const answer = {
      annotations,
      untilMs: nowMs() + (annotations === undefined ? REMEMBER_FAILED_MS : REMEMBER_FOUND_MS),
    };
    remembered.delete(name);
    remembered.set(name, answer);
    asked.delete(name);
    const [oldest] = remembered.keys();
    if (remembered.size > REMEMBERED_LIMIT && oldest !== undefined) remembered.delete(oldest);
    return answer;
  };

  return {
    annotations: async (name) => {
      const known = cached(name);
      if (known !== undefined) return known;
      const last = remembered.get(name);
      if (last !== undefined && nowMs() < last.untilMs) return last.annotations ?? NOTHING;
      const question = asked.get(name) ?? ask(name);
      asked.set(name, question);
      return (await question).annotations ?? NOTHING;
    },
    isUnknown: (name) => {
      if (cached(name) !== undefined) return false;
      const last = remembered.get(name);
      return last !== undefined && last.annotations === undefined;
    },
  };
}
