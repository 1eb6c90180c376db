/**
 * Decides from Events whether nodes can pull the manager's image in a namespace. Pure.
 *
 * An Event counts only for its own namespace: pull secrets are per namespace, and every user with the role `edit` can forge
 * Events in it. The number of stored Events is limited for the same reason.
 */
import { type NewEntries, namespaceOf, type ReduceObject } from "../../api-server/store.ts";
import { objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { LimitedEntries } from "./limited-entries.ts";

/** Field selector for Events about the manager's container when it is a native sidecar. */
export const PULL_EVENTS = "involvedObject.kind=Pod,involvedObject.fieldPath=spec.initContainers{lastcall}";

type PullEvent = {
  readonly isFailure: boolean;
  readonly lastMs: number;
  readonly count: number;
  readonly message: string;
};

/** The kubelet's Event reasons for a failed pull. `Pulled` means that the pull succeeded or was not needed. */
const FAILURE_REASONS: readonly string[] = ["Failed", "BackOff", "ErrImageNeverPull", "InspectFailed"];
const MESSAGE_LIMIT = 300;

/** Fewer failures are ignored, because the kubelet's retry often succeeds. */
const MIN_FAILURES = 3;

/** A success after the last failure, or up to this time before it, shows that not every node or pull fails. */
const SUCCESS_VALIDITY_MS = 120_000;

/**
 * The kubelet records an Event at least every five minutes while a Pod waits for its image. Without an Event for this time no
 * Pod waits, and Pods are injected again to test whether pulls succeed.
 */
const FAILURE_VALIDITY_MS = 600_000;

/** Eight Events of a namespace are enough for every decision. 2,000 Events take a few megabytes. */
const ENTRY_LIMITS = { perNamespace: 8, total: 2_000, timeOf: ({ lastMs }: PullEvent) => lastMs };

export const newPullEvents: NewEntries<PullEvent> = () => new LimitedEntries(ENTRY_LIMITS);

/**
 * Skips Events that are too old for any decision, and Events about other images, which are from an earlier release or a mirror.
 */
export function pullEventReducer(image: string, wallMs: () => number): ReduceObject<PullEvent> {
  return (event: RawObject) => {
    const reason = textAt(event, "reason") ?? "";
    const message = textAt(event, "message") ?? "";
    const isFailure = FAILURE_REASONS.includes(reason);
    if ((!isFailure && reason !== "Pulled") || !message.includes(`"${image}"`)) return undefined;
    const readMs = wallMs();
    const lastMs = lastTimeOf(event, readMs);
    if (lastMs === undefined || lastMs < readMs - FAILURE_VALIDITY_MS - SUCCESS_VALIDITY_MS) return undefined;
    const count = wholeNumberAt(objectAt(event, "series"), "count") ?? wholeNumberAt(event, "count") ?? 1;
    return {
      isFailure,
      lastMs,
      count: Math.min(Math.max(count, 1), MIN_FAILURES),
      message: copyPrefix(message, MESSAGE_LIMIT),
    };
  };
}

/** `slice` alone would retain the whole message, up to 1.5 MiB, in memory. */
function copyPrefix(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), "utf16le").toString("utf16le");
}

type PullError = {
  readonly lastMs: number;
  readonly message: string;
};

export function pullErrorsByNamespace(entries: ReadonlyMap<string, PullEvent>): ReadonlyMap<string, PullError> {
  const lastSuccessMs = new Map<string, number>();
  const failures = new Map<string, PullError & { readonly count: number }>();
  for (const [key, event] of entries) {
    const namespace = namespaceOf(key);
    if (!event.isFailure) {
      lastSuccessMs.set(namespace, Math.max(lastSuccessMs.get(namespace) ?? 0, event.lastMs));
      continue;
    }
    const previous = failures.get(namespace);
    const latest = previous !== undefined && previous.lastMs > event.lastMs ? previous : event;
    failures.set(namespace, {
      lastMs: latest.lastMs,
      message: latest.message,
      count: (previous?.count ?? 0) + event.count,
    });
  }
  const isFailing = (
    namespace: string,
    { lastMs, count }: { readonly lastMs: number; readonly count: number },
  ): boolean =>
    count >= MIN_FAILURES && (lastSuccessMs.get(namespace) ?? Number.NEGATIVE_INFINITY) < lastMs - SUCCESS_VALIDITY_MS;
  return new Map([...failures].filter(([namespace, failure]) => isFailing(namespace, failure)));
}

export function isCurrent(error: PullError | undefined, nowMs: number): error is PullError {
  return error !== undefined && nowMs - error.lastMs < FAILURE_VALIDITY_MS;
}

/** Clocks of nodes differ by seconds. A time further in the future is wrong or forged. */
const CLOCK_SKEW_MS = 120_000;

function lastTimeOf(event: RawObject, readMs: number): number | undefined {
  const eventMs =
    timeAt(objectAt(event, "series"), "lastObservedTime") ??
    timeAt(event, "lastTimestamp") ??
    timeAt(event, "firstTimestamp") ??
    timeAt(event, "eventTime");
  if (eventMs === undefined || eventMs <= readMs) return eventMs;
  if (eventMs - readMs <= CLOCK_SKEW_MS) return readMs;
  // With `readMs` the Event would never become stale, because each list would set a later time. The creation time is reliable:
  // the API server sets it.
  const createdMs = timeAt(objectAt(event, "metadata"), "creationTimestamp");
  return createdMs === undefined ? undefined : Math.min(createdMs, readMs);
}

function timeAt(object: RawObject | undefined, key: string): number | undefined {
  const ms = Date.parse(textAt(object, key) ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
