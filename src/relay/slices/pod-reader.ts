/** Reads the Pods of open streams, a few at a time, and each Pod until its deletion has started. Failed reads are repeated later. */
import type { ApiResponse, SendRequest } from "../../api-server/api-request.ts";
import { type BucketSize, createKeyedBuckets } from "../../api-server/token-buckets.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import { isRawObject, objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { addToSet, removeFromSet } from "../collections.ts";
import { type Clock, createTicker } from "./clock.ts";
import type { PodDeletion } from "./pod-watch.ts";

/** Sufficient to read, within half a minute, 5 000 Pods that terminate at the same time. */
const RATE: BucketSize = { capacity: 100, refillMs: 5 };
const CONCURRENT_READS_LIMIT = 8;
const RESPONSE_LIMIT_MS = 2_000;
const REREAD_AFTER_MS = 3_000;
/** Pause after a failed read. Longer than after a successful read, because the service account may not be allowed to read Pods. */
const RETRY_AFTER_MS = 15_000;
const CHECK_MS = 100;

type PodRead = { readonly pod: RelayedPod; readonly onDeletion: (deletion: PodDeletion) => void; dueMs: number };

type PodReader = {
  /** Calls `onDeletion` at most once, when the Pod is being deleted. @returns a function that stops reading */
  readonly read: (pod: RelayedPod, onDeletion: (deletion: PodDeletion) => void) => () => void;
  readonly stop: () => void;
};

export function createPodReader(request: SendRequest, clock: Clock): PodReader {
  /** Reads by namespace, the least recently served namespace first, so that a flood from one namespace delays only its own reads. */
  const queuedReads = new Map<string, Set<PodRead>>();
  const activeReads = new Set<PodRead>();
  const stopController = new AbortController();
  const tokens = createKeyedBuckets(RATE, 1);
  let readsInProgress = 0;

  const runRead = async (read: PodRead): Promise<void> => {
    const reading = await readPod(request, read.pod, readPodDeletion, stopController.signal);
    if (!activeReads.has(read)) return;
    if (reading.kind === "terminating") read.onDeletion(reading.deletion);
    if (reading.kind === "terminating" || reading.kind === "gone") {
      activeReads.delete(read);
      return;
    }
    read.dueMs = clock.nowMs() + (reading.kind === "not-terminating" ? REREAD_AFTER_MS : RETRY_AFTER_MS);
    addToSet(queuedReads, read.pod.namespace, read);
  };

  const nextDueRead = (nowMs: number): PodRead | undefined => {
    for (const reads of queuedReads.values()) for (const read of reads) if (read.dueMs <= nowMs) return read;
    return undefined;
  };

  const startRead = (read: PodRead): void => {
    const { namespace } = read.pod;
    removeFromSet(queuedReads, namespace, read);
    const otherReads = queuedReads.get(namespace);
    queuedReads.delete(namespace);
    if (otherReads !== undefined) queuedReads.set(namespace, otherReads);
    readsInProgress += 1;
    void runRead(read).finally(() => {
      readsInProgress -= 1;
      startDueReads();
    });
  };

  const takeToken = (nowMs: number): boolean => readsInProgress < CONCURRENT_READS_LIMIT && tokens.take("", nowMs);

  const startDueReads = (): void => {
    const nowMs = clock.nowMs();
    for (let read = nextDueRead(nowMs); read !== undefined && takeToken(nowMs); read = nextDueRead(nowMs))
      startRead(read);
    if (activeReads.size === 0) ticker.stop();
    else if (!stopController.signal.aborted) ticker.start();
  };
  const ticker = createTicker(clock, CHECK_MS, startDueReads);

  return {
    read: (pod, onDeletion) => {
      const read: PodRead = { pod, onDeletion, dueMs: clock.nowMs() };
      activeReads.add(read);
      addToSet(queuedReads, pod.namespace, read);
      startDueReads();
      return () => {
        activeReads.delete(read);
        removeFromSet(queuedReads, pod.namespace, read);
      };
    },
    stop: () => {
      stopController.abort();
      activeReads.clear();
      queuedReads.clear();
      ticker.stop();
    },
  };
}

type Unreadable = { readonly kind: "unreadable" };

/** Never rejects. Reads from the API server's cache, which may be older than the deletion; callers have to read again. */
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
  const reading = readPodObject(response, uid);
  if (reading.kind !== "pod") return reading;
  if (!reading.isTerminating) return { kind: "not-terminating" };
  const seconds = wholeNumberAt(reading.metadata, "deletionGracePeriodSeconds");
  const graceSeconds = seconds === undefined || seconds < 0 ? undefined : seconds;
  return { kind: "terminating", deletion: { terminating: true, graceSeconds } };
}
