/** The slices of every namespace in which a Pod drains, each namespace watched once for all its Pods. */
import type { Registry } from "prom-client";
import type { AskApi, StreamApi } from "../../api-server/api-request.ts";
import { type Bucket, fullBucket, takeToken } from "../../api-server/token-buckets.ts";
import type { WithdrawalLine, WithdrawalQuestion } from "../../contract/relay-wire.ts";
import { sliceMeters } from "../metrics.ts";
import type { Clock } from "./clock.ts";
import { type NamespaceWatch, type Tell, watchNamespace } from "./namespace-watch.ts";
import { SLICE_PACE, type SlicePace } from "./pace.ts";
import { createPodReader } from "./pod-reader.ts";
import { type PodWatch, watchOnePod } from "./pod-watch.ts";

/**
 * Calls `say` at once with what is known, and again with every change, until the answer is called. What is said last is
 * what holds.
 */
export type WatchPod = (question: WithdrawalQuestion, say: (line: WithdrawalLine) => void) => () => void;

type SliceWatchParts = {
  readonly ask: AskApi;
  readonly stream: StreamApi;
  readonly clock: Clock;
  /** At least 0 and below 1. */
  readonly random: () => number;
  /** Whether the account may read Pods: then the real grace period of a deletion is told too. */
  readonly readsPods: boolean;
  readonly registry: Registry;
  readonly log: { readonly info: Tell; readonly warn: Tell };
  readonly pace?: SlicePace;
};

export type SliceWatches = {
  readonly watchPod: WatchPod;
  /** Ends every watch; resolves when nothing is under way any more. */
  readonly stop: () => Promise<void>;
};

/** `emptySinceMs` is set while no Pod drains there. */
type Watched = { readonly watch: NamespaceWatch; emptySinceMs: number | undefined };

export function createSliceWatches(parts: SliceWatchParts): SliceWatches {
  const { clock, pace = SLICE_PACE } = parts;
  const namespaces = new Map<string, Watched>();
  /** For whom there was no room, in the order in which they came. */
  const waiting = new Set<PodWatch>();
  const ending = new Set<Promise<void>>();
  const meters = sliceMeters(parts.registry, () => namespaces.size);
  const reader = parts.readsPods ? createPodReader(parts.ask, clock) : undefined;
  let openings: Bucket | undefined;
  let endLooks: (() => void) | undefined;
  let stopped = false;

  const begin = (namespace: string): Watched => {
    const { countEvent, countFailure } = meters;
    const watch = watchNamespace(namespace, { ...parts, pace, countEvent, countFailure });
    const watched: Watched = { watch, emptySinceMs: undefined };
    namespaces.set(namespace, watched);
    return watched;
  };

  const end = (namespace: string, { watch }: Watched): void => {
    namespaces.delete(namespace);
    const over = watch.end();
    ending.add(over);
    void over.finally(() => ending.delete(over));
  };

  const mayOpen = (): boolean => {
    const nowMs = clock.nowMs();
    const { bucket, taken } = takeToken(openings ?? fullBucket(pace.openings, nowMs), pace.openings, nowMs);
    openings = bucket;
    return taken;
  };

  const oneThatLingers = (): readonly [string, Watched] | undefined => {
    for (const entry of namespaces) if (entry[1].emptySinceMs !== undefined) return entry;
    return undefined;
  };

  /** One that only lingers makes room for one that is wanted. `undefined` while there is no room or no turn. */
  const open = (namespace: string): Watched | undefined => {
    if (stopped) return undefined;
    const isFull = namespaces.size >= pace.namespaceLimit;
    const lingering = isFull ? oneThatLingers() : undefined;
    if ((isFull && lingering === undefined) || !mayOpen()) return undefined;
    if (lingering !== undefined) end(...lingering);
    return begin(namespace);
  };

  const attach = (pod: PodWatch): boolean => {
    const watched = namespaces.get(pod.namespace) ?? open(pod.namespace);
    if (watched === undefined) return false;
    watched.emptySinceMs = undefined;
    pod.attach(watched.watch);
    return true;
  };

  const look = (): void => {
    const nowMs = clock.nowMs();
    for (const [name, watched] of namespaces) {
      if (watched.emptySinceMs !== undefined && nowMs - watched.emptySinceMs >= pace.lingerMs) end(name, watched);
      else watched.watch.look();
    }
    for (const pod of waiting) if (attach(pod)) waiting.delete(pod);
    if (namespaces.size > 0 || waiting.size > 0) return;
    endLooks?.();
    endLooks = undefined;
  };

  const leave = (pod: PodWatch): void => {
    waiting.delete(pod);
    pod.leave();
    const watched = namespaces.get(pod.namespace);
    if (watched?.watch.askers() === 0) watched.emptySinceMs ??= clock.nowMs();
  };

  return {
    watchPod: (question, say) => {
      const failed = (err: unknown): void =>
        parts.log.warn({ err, namespace: question.namespace, pod: question.pod }, "slices could not be judged");
      const pod = watchOnePod(question, { say, failed }, "as many other namespaces are being watched as may be");
      if (!attach(pod)) {
        pod.judge();
        waiting.add(pod);
      }
      if (!stopped) endLooks ??= clock.every(pace.lookMs, look);
      const endReading = reader?.read(question, pod.learn);
      return () => {
        endReading?.();
        leave(pod);
      };
    },
    stop: async () => {
      stopped = true;
      endLooks?.();
      reader?.stop();
      waiting.clear();
      for (const [name, watched] of namespaces) end(name, watched);
      await Promise.all(ending);
    },
  };
}
