/** Reads the Pods of open streams, a few at a time, until each is being deleted. Failed reads are repeated later. */
import type { ApiResponse, SendRequest } from "../../api-server/api-request.ts";
import { type BucketSize, keyedBuckets } from "../../api-server/token-buckets.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import { isRawObject, objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { addTo, removeFrom } from "../collections.ts";
import { type Clock, createTicker } from "./clock.ts";
import type { PodFacts } from "./pod-watch.ts";

/** Reads 5 000 Pods that end together within half a minute. */
const RATE: BucketSize = { capacity: 100, refillMs: 5 };
const AT_ONCE = 8;
const ANSWER_LIMIT_MS = 2_000;
const REREAD_AFTER_MS = 3_000;
/** Longer: the service account may not be allowed to read Pods. */
const RETRY_AFTER_MS = 15_000;
const CHECK_MS = 100;

type Job = { readonly pod: RelayedPod; readonly onFacts: (facts: PodFacts) => void; dueMs: number };

type PodReader = {
  /** Calls `onFacts` at most once, when the Pod is being deleted. @returns stops reading */
  readonly read: (pod: RelayedPod, onFacts: (facts: PodFacts) => void) => () => void;
  readonly stop: () => void;
};

export function createPodReader(request: SendRequest, clock: Clock): PodReader {
  /** By namespace, least recently read first, so that a flood from one namespace delays only itself. */
  const waiting = new Map<string, Set<Job>>();
  const wanted = new Set<Job>();
  const stopped = new AbortController();
  const tokens = keyedBuckets(RATE, 1);
  let underWay = 0;

  const read = async (job: Job): Promise<void> => {
    const reading = await readPod(request, job.pod, readPodAnswer, stopped.signal);
    if (!wanted.has(job)) return;
    if (reading.kind === "ending") job.onFacts(reading.facts);
    if (reading.kind === "ending" || reading.kind === "gone") {
      wanted.delete(job);
      return;
    }
    job.dueMs = clock.nowMs() + (reading.kind === "living" ? REREAD_AFTER_MS : RETRY_AFTER_MS);
    addTo(waiting, job.pod.namespace, job);
  };

  const nextDue = (nowMs: number): Job | undefined => {
    for (const jobs of waiting.values()) for (const job of jobs) if (job.dueMs <= nowMs) return job;
    return undefined;
  };

  const start = (job: Job): void => {
    const { namespace } = job.pod;
    removeFrom(waiting, namespace, job);
    const others = waiting.get(namespace);
    waiting.delete(namespace);
    if (others !== undefined) waiting.set(namespace, others);
    underWay += 1;
    void read(job).finally(() => {
      underWay -= 1;
      pump();
    });
  };

  const takeToken = (nowMs: number): boolean => underWay < AT_ONCE && tokens.take("", nowMs);

  const pump = (): void => {
    const nowMs = clock.nowMs();
    for (let job = nextDue(nowMs); job !== undefined && takeToken(nowMs); job = nextDue(nowMs)) start(job);
    if (wanted.size === 0) ticker.stop();
    else if (!stopped.signal.aborted) ticker.start();
  };
  const ticker = createTicker(clock, CHECK_MS, pump);

  return {
    read: (pod, onFacts) => {
      const job: Job = { pod, onFacts, dueMs: clock.nowMs() };
      wanted.add(job);
      addTo(waiting, pod.namespace, job);
      pump();
      return () => {
        wanted.delete(job);
        removeFrom(waiting, pod.namespace, job);
      };
    },
    stop: () => {
      stopped.abort();
      wanted.clear();
      waiting.clear();
      ticker.stop();
    },
  };
}

type Unreadable = { readonly kind: "unreadable" };

/** Never rejects. Reads from the API server's cache: a read from before the deletion is repeated. */
export function readPod<Reading>(
  request: SendRequest,
  { namespace, pod, uid }: RelayedPod,
  read: (answer: ApiResponse, uid: string) => Reading,
  signal?: AbortSignal,
): Promise<Reading | Unreadable> {
  const names = { namespace: encodeURIComponent(namespace), pod: encodeURIComponent(pod) };
  const path = `/api/v1/namespaces/${names.namespace}/pods/${names.pod}?resourceVersion=0`;
  return request({ method: "GET", path, limitMs: ANSWER_LIMIT_MS, ...(signal === undefined ? {} : { signal }) }).then(
    (answer) => read(answer, uid),
    () => ({ kind: "unreadable" }),
  );
}

export type NoPod = { readonly kind: "gone" } | Unreadable;
type PodAnswer =
  | { readonly kind: "pod"; readonly pod: RawObject; readonly metadata: RawObject; readonly isTerminating: boolean }
  | NoPod;

export function readPodObject(answer: ApiResponse, uid: string): PodAnswer {
  if (answer.status === 404) return { kind: "gone" };
  const pod = answer.status === 200 ? parsed(answer.text) : undefined;
  const metadata = objectAt(pod, "metadata");
  if (pod === undefined || metadata === undefined) return { kind: "unreadable" };
  if (textAt(metadata, "uid") !== uid) return { kind: "gone" };
  return { kind: "pod", pod, metadata, isTerminating: textAt(metadata, "deletionTimestamp") !== undefined };
}

function parsed(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type PodReading = { readonly kind: "ending"; readonly facts: PodFacts } | { readonly kind: "living" } | NoPod;

export function readPodAnswer(answer: ApiResponse, uid: string): PodReading {
  const read = readPodObject(answer, uid);
  if (read.kind !== "pod") return read;
  if (!read.isTerminating) return { kind: "living" };
  const seconds = wholeNumberAt(read.metadata, "deletionGracePeriodSeconds");
  const graceSeconds = seconds === undefined || seconds < 0 ? undefined : seconds;
  return { kind: "ending", facts: { terminating: true, graceSeconds } };
}
