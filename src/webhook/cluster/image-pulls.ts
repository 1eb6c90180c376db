/**
 * Decides from Events whether nodes can pull the manager's image in a namespace. Pure.
 *
 * Each namespace is judged by its own Events: its pull secrets are its own, and everyone with the role `edit` there can forge
 * them. So nothing in an Event is trusted beyond its namespace, and what is kept of Events is bounded.
 */
import { type Keep, type NewEntries, namespaceOf } from "../../api-server/store.ts";
import { objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { LimitedEntries } from "./limited-entries.ts";

/** For the list and the watch: only Events about the manager's container, as native sidecar. */
export const PULL_EVENTS = "involvedObject.kind=Pod,involvedObject.fieldPath=spec.initContainers{lastcall}";

type PullEvent = {
  readonly failed: boolean;
  /** By the node's clock, and never after the reading of the Event. */
  readonly lastMs: number;
  /** At least 1, and at most what makes a trouble. */
  readonly count: number;
  readonly message: string;
};

/** What kubelet calls a pull that came to nothing; `Pulled` is one that worked, or was not needed. */
const FAILURES: readonly string[] = ["Failed", "BackOff", "ErrImageNeverPull", "InspectFailed"];
const MESSAGE_LIMIT = 300;

/** A pull that fails once is tried again, and often works. */
const LEAST_FAILURES = 3;

/** A pull that worked so shortly before a failure means: not on every node, or not every time. */
const GOOD_NEWS_MS = 120_000;

/**
 * The kubelet writes an Event at least every five minutes while a Pod waits for its image. After this time without one no such
 * Pod is left, and the next one that is injected shows whether pulls work again.
 */
const STALE_MS = 600_000;

/** Of a namespace eight Events are enough for every decision below; in all they are a few megabytes. */
const ENTRY_LIMITS = { perNamespace: 8, total: 2_000, timeOf: ({ lastMs }: PullEvent) => lastMs };

export const newPullEvents: NewEntries<PullEvent> = () => new LimitedEntries(ENTRY_LIMITS);

/**
 * Events that are too old for any decision are not kept.
 *
 * @param image Events about another image are older, or a mirror's, and are passed over
 */
export function keepPullEvent(image: string, wallMs: () => number): Keep<PullEvent> {
  return (event: RawObject) => {
    const reason = textAt(event, "reason") ?? "";
    const message = textAt(event, "message") ?? "";
    const isFailure = FAILURES.includes(reason);
    if ((!isFailure && reason !== "Pulled") || !message.includes(`"${image}"`)) return undefined;
    const readMs = wallMs();
    const lastMs = lastTimeOf(event, readMs);
    if (lastMs === undefined || lastMs < readMs - STALE_MS - GOOD_NEWS_MS) return undefined;
    const count = wholeNumberAt(objectAt(event, "series"), "count") ?? wholeNumberAt(event, "count") ?? 1;
    return {
      failed: isFailure,
      lastMs,
      count: Math.min(Math.max(count, 1), LEAST_FAILURES),
      message: copyOfStart(message, MESSAGE_LIMIT),
    };
  };
}

/** `slice` alone refers to the whole text and keeps it in memory; a message may have 1.5 MiB. */
function copyOfStart(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), "utf16le").toString("utf16le");
}

type PullTrouble = {
  /** When it was last told, by a node's clock. */
  readonly lastMs: number;
  readonly message: string;
};

/** The namespaces in which pulls fail and none works. */
export function pullTroubles(entries: ReadonlyMap<string, PullEvent>): ReadonlyMap<string, PullTrouble> {
  const worked = new Map<string, number>();
  const failed = new Map<string, PullTrouble & { readonly count: number }>();
  for (const [key, event] of entries) {
    const namespace = namespaceOf(key);
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

export function isInForce(trouble: PullTrouble | undefined, nowMs: number): trouble is PullTrouble {
  return trouble !== undefined && nowMs - trouble.lastMs < STALE_MS;
}

/** Nodes' clocks differ by seconds; a clock that is further ahead is broken, or the time is forged. */
const CLOCK_SKEW_MS = 120_000;

/**
 * @param readMs the time of the reading, which no result exceeds
 * @returns `undefined` for an Event without a usable time
 */
function lastTimeOf(event: RawObject, readMs: number): number | undefined {
  const claimedMs =
    timeAt(objectAt(event, "series"), "lastObservedTime") ??
    timeAt(event, "lastTimestamp") ??
    timeAt(event, "firstTimestamp") ??
    timeAt(event, "eventTime");
  if (claimedMs === undefined || claimedMs <= readMs) return claimedMs;
  if (claimedMs - readMs <= CLOCK_SKEW_MS) return readMs;
  // The time of the reading would move with every list, and the Event would never age. This one is the API server's.
  const createdMs = timeAt(objectAt(event, "metadata"), "creationTimestamp");
  return createdMs === undefined ? undefined : Math.min(createdMs, readMs);
}

function timeAt(object: RawObject | undefined, key: string): number | undefined {
  const ms = Date.parse(textAt(object, key) ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
