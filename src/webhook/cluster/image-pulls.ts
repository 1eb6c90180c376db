/**
 * Whether nodes can pull the manager's image in a namespace, by what they said in Events. Pure.
 *
 * A namespace counts for itself: its pull secrets are its own, and who can write Events there harms no other.
 */

import type { Keep } from "../../api-server/store.ts";
import { objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";

/** For the list and the watch: only Events about the manager's container, as native sidecar. */
export const PULL_EVENTS = "involvedObject.kind=Pod,involvedObject.fieldPath=spec.initContainers{lastcall}";

export type PullEvent = {
  readonly failed: boolean;
  /** By the node's clock. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  readonly message: string;
};

/** What kubelet calls a pull that came to nothing; `Pulled` is one that worked, or was not needed. */
const FAILURES: readonly string[] = ["Failed", "BackOff", "ErrImageNeverPull", "InspectFailed"];
const MESSAGE_LIMIT = 300;

/** @param image an Event of another one says nothing: it is older, or a mirror's */
export function keepPullEvent(image: string): Keep<PullEvent> {
  return (event: RawObject) => {
    const reason = textAt(event, "reason") ?? "";
    const message = textAt(event, "message") ?? "";
    const isFailure = FAILURES.includes(reason);
    if ((!isFailure && reason !== "Pulled") || !message.includes(`"${image}"`)) return undefined;
    const series = objectAt(event, "series");
    const firstMs = timeOf(event, "firstTimestamp") ?? timeOf(event, "eventTime");
    const lastMs = timeOf(series, "lastObservedTime") ?? timeOf(event, "lastTimestamp") ?? firstMs;
    if (firstMs === undefined || lastMs === undefined) return undefined;
    const count = wholeNumberAt(series, "count") ?? wholeNumberAt(event, "count") ?? 1;
    return { failed: isFailure, firstMs, lastMs, count, message: message.slice(0, MESSAGE_LIMIT) };
  };
}

function timeOf(object: RawObject | undefined, key: string): number | undefined {
  const ms = Date.parse(textAt(object, key) ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

export type PullTrouble = {
  /** When it was last told, by a node's clock. */
  readonly lastMs: number;
  readonly message: string;
};

/** A pull that worked so shortly before a failure means: not on every node, or not every time. */
const GOOD_NEWS_MS = 120_000;
/** One that fails once is tried again, and often works. */
const LEAST_FAILURES = 3;

/** The namespaces in which pulls fail and none works. */
export function pullTroubles(entries: ReadonlyMap<string, PullEvent>): ReadonlyMap<string, PullTrouble> {
  const worked = new Map<string, number>();
  const failed = new Map<string, PullTrouble & { readonly count: number }>();
  for (const [key, event] of entries) {
    const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
    if (!event.failed) {
      worked.set(namespace, Math.max(worked.get(namespace) ?? 0, event.lastMs));
      continue;
    }
    const before = failed.get(namespace);
    const latest = before !== undefined && before.lastMs > event.lastMs ? before : event;
    failed.set(namespace, {
      lastMs: latest.lastMs,
      message: latest.message,
      count: (before?.count ?? 0) + event.count,
    });
  }
  const isTrouble = (
    namespace: string,
    { lastMs, count }: { readonly lastMs: number; readonly count: number },
  ): boolean => count >= LEAST_FAILURES && (worked.get(namespace) ?? Number.NEGATIVE_INFINITY) < lastMs - GOOD_NEWS_MS;
  return new Map([...failed].filter(([namespace, failures]) => isTrouble(namespace, failures)));
}

/**
 * Nodes tell of a Pod that waits for its image every five minutes at least. After this without a word no such Pod is left, and
 * the next one that is injected shows whether it works again.
 */
const STALE_MS = 600_000;

export function isInForce(trouble: PullTrouble | undefined, nowMs: number): trouble is PullTrouble {
  return trouble !== undefined && nowMs - trouble.lastMs < STALE_MS;
}
