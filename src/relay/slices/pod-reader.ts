/** Reads Pods that are asked about, few at a time, until each is known to end. A failure costs nothing. */
import type { ApiAnswer, AskApi } from "../../api-server/api-request.ts";
import { type Bucket, type BucketSize, fullBucket, takeToken } from "../../api-server/token-buckets.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import { isRawObject, objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { Clock } from "./clock.ts";
import type { PodFacts } from "./pod-watch.ts";

/** Reads one Pod by name, and tells it from another Pod that has its name now. Pure. */
export type PodAnswer =
  | { readonly kind: "pod"; readonly pod: RawObject; readonly metadata: RawObject; readonly isDeleted: boolean }
  /** Deleted, or another Pod has its name now. */
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable" };

const OK = 200;
const NOT_FOUND = 404;

/** From the API server's cache. */
export function podPath({ namespace, pod }: RelayedPod): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}?resourceVersion=0`;
}

export function readPodObject(answer: ApiAnswer, uid: string): PodAnswer {
  if (answer.status === NOT_FOUND) return { kind: "gone" };
  const pod = answer.status === OK ? parsed(answer.text) : undefined;
  const metadata = objectAt(pod, "metadata");
  if (pod === undefined || metadata === undefined) return { kind: "unreadable" };
  if (textAt(metadata, "uid") !== uid) return { kind: "gone" };
  return { kind: "pod", pod, metadata, isDeleted: textAt(metadata, "deletionTimestamp") !== undefined };
}

function parsed(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Calls `tell` at most once, when the Pod is known to end; stops when the answer is called. */
type ReadPod = (pod: RelayedPod, tell: (facts: PodFacts) => void) => () => void;

/** 5 000 Pods that end together are all read within half a minute, from the API server's cache. */
const RATE: BucketSize = { most: 100, refillMs: 5 };
const AT_ONCE = 8;
const ANSWER_LIMIT_MS = 2_000;
const AGAIN_AFTER_MS = 3_000;
/** Without the right to read it, it is of no use to ask soon. */
const AGAIN_AFTER_FAILURE_MS = 15_000;
const LOOK_MS = 100;

type Job = { readonly pod: RelayedPod; readonly tell: (facts: PodFacts) => void; dueMs: number };

export function createPodReader(ask: AskApi, clock: Clock): { readonly read: ReadPod; readonly stop: () => void } {
  /** By namespace; the one whose turn was longest ago comes first, so that one that floods delays itself. */
  const waiting = new Map<string, Set<Job>>();
  const wanted = new Set<Job>();
  const stopped = new AbortController();
  let underWay = 0;
  let bucket: Bucket | undefined;
  let endLooks: (() => void) | undefined;

  const look = async (job: Job): Promise<void> => {
    // Any version will do: what is older than the deletion is asked for again.
    const question = {
      method: "GET",
      path: podPath(job.pod),
      limitMs: ANSWER_LIMIT_MS,
      signal: stopped.signal,
    } as const;
    const reading = await ask(question).then(
      (answer) => readPodAnswer(answer, job.pod.uid),
      () => ({ kind: "unreadable" as const }),
    );
    if (!wanted.has(job)) return;
    if (reading.kind === "ending") job.tell(reading.facts);
    if (reading.kind === "ending" || reading.kind === "gone") {
      wanted.delete(job);
      return;
    }
    job.dueMs = clock.nowMs() + (reading.kind === "living" ? AGAIN_AFTER_MS : AGAIN_AFTER_FAILURE_MS);
    wait(job);
  };

  const wait = (job: Job): void => {
    const { namespace } = job.pod;
    const jobs = waiting.get(namespace);
    if (jobs === undefined) waiting.set(namespace, new Set([job]));
    else jobs.add(job);
  };

  const waitNoMore = (job: Job): void => {
    const { namespace } = job.pod;
    const jobs = waiting.get(namespace);
    jobs?.delete(job);
    if (jobs?.size === 0) waiting.delete(namespace);
  };

  /** Within a namespace in the order in which they came: who was asked for before goes behind who was not. */
  const nextDue = (nowMs: number): Job | undefined => {
    for (const jobs of waiting.values()) for (const job of jobs) if (job.dueMs <= nowMs) return job;
    return undefined;
  };

  const begin = (job: Job): void => {
    waitNoMore(job);
    const { namespace } = job.pod;
    const others = waiting.get(namespace);
    waiting.delete(namespace);
    if (others !== undefined) waiting.set(namespace, others);
    underWay += 1;
    void look(job).finally(() => {
      underWay -= 1;
      pump();
    });
  };

  const takeTurn = (nowMs: number): boolean => {
    if (underWay >= AT_ONCE) return false;
    const next = takeToken(bucket ?? fullBucket(RATE, nowMs), RATE, nowMs);
    bucket = next.bucket;
    return next.taken;
  };

  const pump = (): void => {
    const nowMs = clock.nowMs();
    for (let job = nextDue(nowMs); job !== undefined && takeTurn(nowMs); job = nextDue(nowMs)) begin(job);
    if (wanted.size === 0) {
      endLooks?.();
      endLooks = undefined;
    } else if (!stopped.signal.aborted) endLooks ??= clock.every(LOOK_MS, pump);
  };

  return {
    read: (pod, tell) => {
      const job: Job = { pod, tell, dueMs: clock.nowMs() };
      wanted.add(job);
      wait(job);
      pump();
      return () => {
        wanted.delete(job);
        waitNoMore(job);
      };
    },
    stop: () => {
      stopped.abort();
      wanted.clear();
      waiting.clear();
      endLooks?.();
    },
  };
}

/** Reads from an answer about a Pod whether it ends, and in which time. Pure. */
type PodReading =
  /** The Pod is being deleted, which is never taken back. */
  | { readonly kind: "ending"; readonly facts: PodFacts }
  | { readonly kind: "living" }
  | Exclude<PodAnswer, { readonly kind: "pod" }>;

export function readPodAnswer(answer: ApiAnswer, uid: string): PodReading {
  const read = readPodObject(answer, uid);
  if (read.kind !== "pod") return read;
  if (!read.isDeleted) return { kind: "living" };
  const seconds = wholeNumberAt(read.metadata, "deletionGracePeriodSeconds");
  return {
    kind: "ending",
    facts: { terminating: true, graceSeconds: seconds === undefined || seconds < 0 ? undefined : seconds },
  };
}
