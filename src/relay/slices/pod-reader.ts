/** Reads the Pods of open streams, a few at a time, until each is being deleted. Failed reads are repeated later. */
import type { ApiResponse, SendRequest } from "../../api-server/api-request.ts";
import { type BucketSize, createKeyedBuckets } from "../../api-server/token-buckets.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import { isRawObject, objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { addToSet, removeFromSet } from "../collections.ts";
import { type Clock, createTicker } from "./clock.ts";
import type { PodDeletion } from "./pod-watch.ts";

/** Sufficient to read 5 000 Pods that end together within half a minute. */
const RATE: BucketSize = { capacity: 100, refillMs: 5 };
const CONCURRENT_READS_LIMIT = 8;
const RESPONSE_LIMIT_MS = 2_000;
const REREAD_AFTER_MS = 3_000;
/** Longer than after a successful read, because the service account may not be allowed to read Pods. */
const RETRY_AFTER_MS = 15_000;
const CHECK_MS = 100;

type Job = { readonly pod: RelayedPod; readonly onDeletion: (deletion: PodDeletion) => void; dueMs: number };

type PodReader = {
  /** Calls `onDeletion` at most once, when the Pod is being deleted. @returns a function that stops reading */
  readonly read: (pod: RelayedPod, onDeletion: (deletion: PodDeletion) => void) => () => void;
  readonly stop: () => void;
};

export function createPodReader(request: SendRequest, clock: Clock): PodReader {
  /** Jobs by namespace, the least recently read first, so that a flood from one namespace delays only itself. */
  const waitingJobs = new Map<string, Set<Job>>();
  const activeJobs = new Set<Job>();
  const stopped = new AbortController();
  const tokens = createKeyedBuckets(RATE, 1);
  let readsInProgress = 0;

  const readJob = async (job: Job): Promise<void> => {
    const reading = await readPod(request, job.pod, readPodDeletion, stopped.signal);
    if (!activeJobs.has(job)) return;
    if (reading.kind === "terminating") job.onDeletion(reading.deletion);
    if (reading.kind === "terminating" || reading.kind === "gone") {
      activeJobs.delete(job);
      return;
    }
    job.dueMs = clock.nowMs() + (reading.kind === "not-terminating" ? REREAD_AFTER_MS : RETRY_AFTER_MS);
    addToSet(waitingJobs, job.pod.namespace, job);
  };

  const nextDueJob = (nowMs: number): Job | undefined => {
    for (const jobs of waitingJobs.values()) for (const job of jobs) if (job.dueMs <= nowMs) return job;
    return undefined;
  };

  const start = (job: Job): void => {
    const { namespace } = job.pod;
    removeFromSet(waitingJobs, namespace, job);
    const otherJobs = waitingJobs.get(namespace);
    waitingJobs.delete(namespace);
    if (otherJobs !== undefined) waitingJobs.set(namespace, otherJobs);
    readsInProgress += 1;
    void readJob(job).finally(() => {
      readsInProgress -= 1;
      startDueJobs();
    });
  };

  const takeToken = (nowMs: number): boolean => readsInProgress < CONCURRENT_READS_LIMIT && tokens.take("", nowMs);

  const startDueJobs = (): void => {
    const nowMs = clock.nowMs();
    for (let job = nextDueJob(nowMs); job !== undefined && takeToken(nowMs); job = nextDueJob(nowMs)) start(job);
    if (activeJobs.size === 0) ticker.stop();
    else if (!stopped.signal.aborted) ticker.start();
  };
  const ticker = createTicker(clock, CHECK_MS, startDueJobs);

  return {
    read: (pod, onDeletion) => {
      const job: Job = { pod, onDeletion, dueMs: clock.nowMs() };
      activeJobs.add(job);
      addToSet(waitingJobs, pod.namespace, job);
      startDueJobs();
      return () => {
        activeJobs.delete(job);
        removeFromSet(waitingJobs, pod.namespace, job);
      };
    },
    stop: () => {
      stopped.abort();
      activeJobs.clear();
      waitingJobs.clear();
      ticker.stop();
    },
  };
}

type Unreadable = { readonly kind: "unreadable" };

/** Never rejects. Reads from the API server's cache, which may be older than the deletion; callers read again. */
export function readPod<Reading>(
  request: SendRequest,
  { namespace, pod, uid }: RelayedPod,
  read: (response: ApiResponse, uid: string) => Reading,
  signal?: AbortSignal,
): Promise<Reading | Unreadable> {
  const names = { namespace: encodeURIComponent(namespace), pod: encodeURIComponent(pod) };
  const path = `/api/v1/namespaces/${names.namespace}/pods/${names.pod}?resourceVersion=0`;
  return request({ method: "GET", path, limitMs: RESPONSE_LIMIT_MS, ...(signal === undefined ? {} : { signal }) }).then(
    (response) => read(response, uid),
    () => ({ kind: "unreadable" }),
  );
}

export type UnavailablePod = { readonly kind: "gone" } | Unreadable;
type PodObjectReading =
  | { readonly kind: "pod"; readonly pod: RawObject; readonly metadata: RawObject; readonly isTerminating: boolean }
  | UnavailablePod;

export function readPodObject(response: ApiResponse, uid: string): PodObjectReading {
  if (response.status === 404) return { kind: "gone" };
  const pod = response.status === 200 ? parseObject(response.text) : undefined;
  const metadata = objectAt(pod, "metadata");
  if (pod === undefined || metadata === undefined) return { kind: "unreadable" };
  if (textAt(metadata, "uid") !== uid) return { kind: "gone" };
  return { kind: "pod", pod, metadata, isTerminating: textAt(metadata, "deletionTimestamp") !== undefined };
}

function parseObject(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type PodReading =
  | { readonly kind: "terminating"; readonly deletion: PodDeletion }
  | { readonly kind: "not-terminating" }
  | UnavailablePod;

export function readPodDeletion(response: ApiResponse, uid: string): PodReading {
  const read = readPodObject(response, uid);
  if (read.kind !== "pod") return read;
  if (!read.isTerminating) return { kind: "not-terminating" };
  const seconds = wholeNumberAt(read.metadata, "deletionGracePeriodSeconds");
  const graceSeconds = seconds === undefined || seconds < 0 ? undefined : seconds;
  return { kind: "terminating", deletion: { terminating: true, graceSeconds } };
}
