/** Records Events through a bounded queue, one request at a time; Events that cannot be sent are dropped and counted. */
import type { SendRequest } from "./api-request.ts";
import { type EventSpec, eventPath, toEventObject } from "./event-object.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { type BucketSize, keyedBucketsBelow } from "./token-buckets.ts";

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
  readonly suffix: () => string;
  readonly instance: string;
  /** The reporting controller, such as `lastcall.dev/webhook`. */
  readonly reporter: string;
  /** Whether the namespace exists: reports of managers can name any. */
  readonly isKnown: (namespace: string) => boolean;
  readonly count: (result: EventResult) => void;
};

/** Never throws and never waits. */
export type RecordEvent = (note: EventSpec) => void;

type Waiting = { readonly note: EventSpec; readonly count: number; readonly firstMs: number; readonly lastMs: number };

/** Each recorder has its own limits, so that one controller's Events do not crowd out another's. */
export function createEventRecorder(ports: EventPorts): RecordEvent {
  const limits = createEventLimits();
  const queue: Waiting[] = [];
  let sending = false;
  let failures = 0;
  let pausedUntilMs = 0;

  const sendOne = async (waiting: Waiting): Promise<EventResult> => {
    // While the API server is down, Events are dropped at once: they would be outdated when it is back.
    if (ports.nowMs() < pausedUntilMs) return "failed";
    const result = await send(ports, waiting);
    failures = result === "unanswered" ? failures + 1 : 0;
    pausedUntilMs = ports.nowMs() + retryDelayMs(failures, ports.random());
    return result === "sent" ? "sent" : "failed";
  };

  const sendAll = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) ports.count(await sendOne(next));
    sending = false;
  };

  return (note) => {
    if (!ports.isKnown(note.namespace)) {
      ports.count("unknown_namespace");
      return;
    }
    const nowMs = ports.nowMs();
    const decision = limits(note, nowMs);
    if (decision.kind !== "send") {
      ports.count(decision.kind);
      return;
    }
    if (queue.length >= QUEUE_LIMIT) {
      ports.count("queue_full");
      return;
    }
    const lastMs = ports.wallMs();
    queue.push({ note, count: decision.count, firstMs: lastMs - (nowMs - decision.firstMs), lastMs });
    if (sending) return;
    sending = true;
    void sendAll();
  };
}

/** After `refused` the next Event is sent at once; `unanswered` pauses the recorder. */
async function send(ports: EventPorts, waiting: Waiting): Promise<"sent" | "refused" | "unanswered"> {
  const { note, count, firstMs, lastMs } = waiting;
  const { instance, reporter } = ports;
  const event = toEventObject(note, { count, firstMs, lastMs, suffix: ports.suffix(), instance, reporter });
  try {
    const body = JSON.stringify(event);
    const answer = await ports.request({ method: "POST", path: eventPath(note), body, limitMs: SEND_LIMIT_MS });
    if (answer.status >= 500 || answer.status === 429) return "unanswered";
    return answer.status < 300 ? "sent" : "refused";
  } catch {
    return "unanswered";
  }
}

/** An Event with the same owner and reason is repeated after this time, with the count since. */
export const REPEAT_AFTER_MS = 10 * 60_000;

/** Below the overall limit, so one namespace cannot exhaust it. */
const PER_NAMESPACE: BucketSize = { capacity: 10, refillMs: 30_000 };
const OVERALL: BucketSize = { capacity: 50, refillMs: 1_000 };

/** Occurrences and namespaces kept; beyond it the least recently used is dropped. */
const CACHE_LIMIT = 2_000;

type LimitDecision =
  | { readonly kind: "send"; readonly count: number; readonly firstMs: number }
  | { readonly kind: "repeated" }
  | { readonly kind: "rate_limited" };

type Occurrences = { readonly firstMs: number; readonly count: number; readonly sentMs: number | undefined };

export function createEventLimits(): (note: EventSpec, nowMs: number) => LimitDecision {
  const occurrences = new Map<string, Occurrences>();
  const takeToken = keyedBucketsBelow(OVERALL, PER_NAMESPACE, CACHE_LIMIT);

  return (note, nowMs) => {
    const key = `${note.namespace} ${note.owner.uid} ${note.reason}`;
    const before = occurrences.get(key);
    const isNew = before === undefined;
    const count = isNew ? 1 : before.count + 1;
    const firstMs = isNew || before.count === 0 ? nowMs : before.firstMs;
    if (before?.sentMs !== undefined && nowMs - before.sentMs < REPEAT_AFTER_MS) {
      remember(occurrences, key, { ...before, firstMs, count });
      return { kind: "repeated" };
    }
    if (!takeToken(note.namespace, nowMs)) {
      remember(occurrences, key, { firstMs, count, sentMs: undefined });
      return { kind: "rate_limited" };
    }
    remember(occurrences, key, { firstMs: nowMs, count: 0, sentMs: nowMs });
    return { kind: "send", count, firstMs };
  };
}

function remember(map: Map<string, Occurrences>, key: string, value: Occurrences): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > CACHE_LIMIT && oldest !== undefined) map.delete(oldest);
}
