/** Sends Events beside everything else: a bounded queue, one at a time, and whatever cannot be sent is dropped and counted. */
import type { AskApi } from "./api-request.ts";
import { eventOf, eventPath, type Note } from "./event-object.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { type BucketSize, keyedBucketsBelow } from "./token-buckets.ts";

/** Notes that wait; more than the overall burst lets through, so it fills only when the API server is slow. */
const QUEUE_LIMIT = 100;

/** For one Event, in milliseconds. */
const SEND_LIMIT_MS = 5_000;

/** Every way a note ends; a label of the metric. */
export const EVENT_RESULTS = ["sent", "repeated", "unknown_namespace", "rate_limited", "queue_full", "failed"] as const;
export type EventResult = (typeof EVENT_RESULTS)[number];

type EventPorts = {
  readonly ask: AskApi;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly suffix: () => string;
  readonly instance: string;
  /** The part of the program that tells, such as `lastcall.dev/webhook`. */
  readonly reporter: string;
  /** Whether the cluster has shown the namespace: what comes from outside may name any. */
  readonly isKnown: (namespace: string) => boolean;
  readonly count: (result: EventResult) => void;
};

/** Never throws and never waits. */
export type SendNote = (note: Note) => void;

type Waiting = { readonly note: Note; readonly count: number; readonly firstMs: number; readonly lastMs: number };

/** Each sender has limits of its own, so that what one room tells does not silence another. */
export function eventSender(ports: EventPorts): SendNote {
  const limits = eventLimits();
  const queue: Waiting[] = [];
  let sending = false;
  let failures = 0;
  let pausedUntilMs = 0;

  const sendOne = async (waiting: Waiting): Promise<EventResult> => {
    // While the API server is away, notes are dropped at once: they would be old news when it is back.
    if (ports.nowMs() < pausedUntilMs) return "failed";
    const fate = await send(ports, waiting);
    failures = fate === "unanswered" ? failures + 1 : 0;
    pausedUntilMs = ports.nowMs() + retryDelayMs(failures, ports.random());
    return fate === "sent" ? "sent" : "failed";
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
    const telling = limits(note, nowMs);
    if (telling.kind !== "send") {
      ports.count(telling.kind);
      return;
    }
    if (queue.length >= QUEUE_LIMIT) {
      ports.count("queue_full");
      return;
    }
    const lastMs = ports.wallMs();
    queue.push({ note, count: telling.count, firstMs: lastMs - (nowMs - telling.firstMs), lastMs });
    if (sending) return;
    sending = true;
    void sendAll();
  };
}

/** `refused` is an answer: the next Event may fare better. */
async function send(ports: EventPorts, waiting: Waiting): Promise<"sent" | "refused" | "unanswered"> {
  const { note, count, firstMs, lastMs } = waiting;
  const { instance, reporter } = ports;
  const event = eventOf(note, { count, firstMs, lastMs, suffix: ports.suffix(), instance, reporter });
  try {
    const body = JSON.stringify(event);
    const answer = await ports.ask({ method: "POST", path: eventPath(note), body, limitMs: SEND_LIMIT_MS });
    if (answer.status >= 500 || answer.status === 429) return "unanswered";
    return answer.status < 300 ? "sent" : "refused";
  } catch {
    return "unanswered";
  }
}

/** The same about the same owner is told again after this, with the number of times since. */
export const REPEAT_AFTER_MS = 10 * 60_000;

/** One namespace may not use up what all have. */
const PER_NAMESPACE: BucketSize = { most: 10, refillMs: 30_000 };
const OVERALL: BucketSize = { most: 50, refillMs: 1_000 };

/** Notes and namespaces remembered; beyond, the oldest is forgotten. */
const REMEMBERED_LIMIT = 2_000;

type Telling =
  /** `count` times since `firstMs`. */
  | { readonly kind: "send"; readonly count: number; readonly firstMs: number }
  | { readonly kind: "repeated" }
  | { readonly kind: "rate_limited" };

type Standing = { readonly firstMs: number; readonly count: number; readonly sentMs: number | undefined };

/** Answers for each note in turn. `nowMs` is monotonic. */
export function eventLimits(): (note: Note, nowMs: number) => Telling {
  const standing = new Map<string, Standing>();
  const mayTell = keyedBucketsBelow(OVERALL, PER_NAMESPACE, REMEMBERED_LIMIT);

  return (note, nowMs) => {
    const key = `${note.namespace} ${note.owner.uid} ${note.reason}`;
    const before = standing.get(key);
    const isNews = before === undefined;
    const count = isNews ? 1 : before.count + 1;
    const firstMs = isNews || before.count === 0 ? nowMs : before.firstMs;
    if (before?.sentMs !== undefined && nowMs - before.sentMs < REPEAT_AFTER_MS) {
      remember(standing, key, { ...before, firstMs, count });
      return { kind: "repeated" };
    }
    if (!mayTell(note.namespace, nowMs)) {
      remember(standing, key, { firstMs, count, sentMs: undefined });
      return { kind: "rate_limited" };
    }
    remember(standing, key, { firstMs: nowMs, count: 0, sentMs: nowMs });
    return { kind: "send", count, firstMs };
  };
}

/** The one used last is the last to be forgotten. */
function remember(map: Map<string, Standing>, key: string, value: Standing): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_LIMIT && oldest !== undefined) map.delete(oldest);
}
