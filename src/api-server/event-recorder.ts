/** Records Events through a bounded queue, one request at a time; Events that cannot be sent are dropped and counted. */
import type { SendRequest } from "./api-request.ts";
import { type EventSpec, eventPath, toEventObject } from "./event-object.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { type BucketSize, createNestedBuckets } from "./token-buckets.ts";

/** Larger than the overall burst, so the queue fills only when the API server is slow. */
const QUEUE_LIMIT = 100;

const SEND_LIMIT_MS = 5_000;

/** Values of the metric's label `result`. */
export const EVENT_RESULTS = ["sent", "repeated", "unknown_namespace", "rate_limited", "queue_full", "failed"] as const;
export type EventResult = (typeof EVENT_RESULTS)[number];

type EventPorts = {
  readonly request: SendRequest;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly createNameSuffix: () => string;
  readonly instance: string;
  /** The reporting controller, such as `lastcall.dev/webhook`. */
  readonly reporter: string;
  /** Whether the namespace exists: a manager's report can contain any name. */
  readonly isKnownNamespace: (namespace: string) => boolean;
  readonly count: (result: EventResult) => void;
};

/** Queues an Event; never throws and never blocks. */
export type RecordEvent = (spec: EventSpec) => void;

type QueuedEvent = {
  readonly spec: EventSpec;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
};

/** Each recorder has its own limits, so that one controller's Events do not use up those of another. */
export function createEventRecorder(ports: EventPorts): RecordEvent {
  const checkLimits = createEventLimits();
  const queue: QueuedEvent[] = [];
  let isSending = false;
  let failureCount = 0;
  let pausedUntilMs = 0;

  const sendOne = async (queuedEvent: QueuedEvent): Promise<EventResult> => {
    // After a failed request, Events are dropped until the pause ends: sent later, they would be outdated.
    if (ports.nowMs() < pausedUntilMs) return "failed";
    const result = await send(ports, queuedEvent);
    failureCount = result === "unavailable" ? failureCount + 1 : 0;
    pausedUntilMs = ports.nowMs() + retryDelayMs(failureCount, ports.random());
    return result === "sent" ? "sent" : "failed";
  };

  const sendAll = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) ports.count(await sendOne(next));
    isSending = false;
  };

  return (spec) => {
    if (!ports.isKnownNamespace(spec.namespace)) {
      ports.count("unknown_namespace");
      return;
    }
    const nowMs = ports.nowMs();
    const decision = checkLimits(spec, nowMs);
    if (decision.kind !== "send") {
      ports.count(decision.kind);
      return;
    }
    if (queue.length >= QUEUE_LIMIT) {
      ports.count("queue_full");
      return;
    }
    const lastMs = ports.wallMs();
    queue.push({ spec, count: decision.count, firstMs: lastMs - (nowMs - decision.firstMs), lastMs });
    if (isSending) return;
    isSending = true;
    void sendAll();
  };
}

/** After `refused` the next Event is sent at once; `unavailable` pauses the recorder. */
async function send(ports: EventPorts, queuedEvent: QueuedEvent): Promise<"sent" | "refused" | "unavailable"> {
  const { spec, count, firstMs, lastMs } = queuedEvent;
  const { instance, reporter } = ports;
  const event = toEventObject(spec, {
    count,
    firstMs,
    lastMs,
    nameSuffix: ports.createNameSuffix(),
    instance,
    reporter,
  });
  try {
    const body = JSON.stringify(event);
    const response = await ports.request({ method: "POST", path: eventPath(spec), body, limitMs: SEND_LIMIT_MS });
    if (response.status >= 500 || response.status === 429) return "unavailable";
    return response.status < 300 ? "sent" : "refused";
  } catch {
    return "unavailable";
  }
}

/** An Event with the same owner and reason is sent again only after this time, with the number of occurrences since the previous Event. */
export const REPEAT_AFTER_MS = 10 * 60_000;

/** Smaller than the overall limit, so that one namespace cannot exhaust it. */
const NAMESPACE_BUCKET: BucketSize = { capacity: 10, refillMs: 30_000 };
const OVERALL_BUCKET: BucketSize = { capacity: 50, refillMs: 1_000 };

/** Maximum number of occurrences, and of namespaces, in memory; above it the least recently used entry is dropped. */
const CACHE_LIMIT = 2_000;

type LimitDecision =
  | { readonly kind: "send"; readonly count: number; readonly firstMs: number }
  | { readonly kind: "repeated" }
  | { readonly kind: "rate_limited" };

type Occurrences = { readonly firstMs: number; readonly count: number; readonly sentMs: number | undefined };

export function createEventLimits(): (spec: EventSpec, nowMs: number) => LimitDecision {
  const occurrences = new Map<string, Occurrences>();
  const takeToken = createNestedBuckets(OVERALL_BUCKET, NAMESPACE_BUCKET, CACHE_LIMIT);

  return (spec, nowMs) => {
    const key = `${spec.namespace} ${spec.owner.uid} ${spec.reason}`;
    const previous = occurrences.get(key);
    const isNew = previous === undefined;
    const count = isNew ? 1 : previous.count + 1;
    const firstMs = isNew || previous.count === 0 ? nowMs : previous.firstMs;
    if (previous?.sentMs !== undefined && nowMs - previous.sentMs < REPEAT_AFTER_MS) {
      putRecent(occurrences, key, { ...previous, firstMs, count });
      return { kind: "repeated" };
    }
    if (!takeToken(spec.namespace, nowMs)) {
      putRecent(occurrences, key, { firstMs, count, sentMs: undefined });
      return { kind: "rate_limited" };
    }
    putRecent(occurrences, key, { firstMs: nowMs, count: 0, sentMs: nowMs });
    return { kind: "send", count, firstMs };
  };
}

function putRecent(map: Map<string, Occurrences>, key: string, value: Occurrences): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > CACHE_LIMIT && oldest !== undefined) map.delete(oldest);
}
