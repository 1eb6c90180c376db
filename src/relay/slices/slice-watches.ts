/** Watches the slices of every namespace in which a Pod drains, once for all its Pods. */
import type { Registry } from "prom-client";
import { keyedBuckets } from "../../api-server/token-buckets.ts";
import type { WithdrawalLine, WithdrawalQuestion } from "../../contract/relay-wire.ts";
import { sliceMeters } from "../metrics.ts";
import { createTicker } from "./clock.ts";
import {
  type NamespaceWatch,
  type NamespaceWatchPorts,
  SLICE_PACE,
  type SlicePace,
  watchNamespace,
} from "./namespace-watch.ts";
import { createPodReader } from "./pod-reader.ts";
import { type PodWatch, watchOnePod } from "./pod-watch.ts";

/** Calls `say` at once and with every change, until the result is called; each line replaces the one before. */
export type WatchPod = (question: WithdrawalQuestion, say: (line: WithdrawalLine) => void) => () => void;

type SliceWatchParts = Omit<NamespaceWatchPorts, "pace" | "countEvent" | "countFailure"> & {
  /** Whether the account may read Pods: lines then have the grace period of the deletion. */
  readonly readsPods: boolean;
  readonly registry: Registry;
  readonly pace?: SlicePace;
};

export type SliceWatches = {
  readonly watchPod: WatchPod;
  /** Resolves when no request is open any more. */
  readonly stop: () => Promise<void>;
};

/** `emptySinceMs` is set while no Pod drains there. */
type Watched = { readonly watch: NamespaceWatch; emptySinceMs: number | undefined };

export function createSliceWatches(parts: SliceWatchParts): SliceWatches {
  const { clock, pace = SLICE_PACE } = parts;
  const namespaces = new Map<string, Watched>();
  /** Pods whose namespace found no room, first come first. */
  const waiting = new Set<PodWatch>();
  const ending = new Set<Promise<void>>();
  const meters = sliceMeters(parts.registry, () => namespaces.size);
  const reader = parts.readsPods ? createPodReader(parts.request, clock) : undefined;
  const openings = keyedBuckets(pace.openings, 1);
  let stopped = false;

  const end = (namespace: string, { watch }: Watched): void => {
    namespaces.delete(namespace);
    const over = watch.end();
    ending.add(over);
    void over.finally(() => ending.delete(over));
  };

  const emptyNamespace = (): readonly [string, Watched] | undefined => {
    for (const entry of namespaces) if (entry[1].emptySinceMs !== undefined) return entry;
    return undefined;
  };

  /** Replaces a namespace without drains if all places are taken. `undefined` without a place or a token. */
  const open = (namespace: string): Watched | undefined => {
    if (stopped) return undefined;
    const isFull = namespaces.size >= pace.namespaceLimit;
    const empty = isFull ? emptyNamespace() : undefined;
    if ((isFull && empty === undefined) || !openings.take("", clock.nowMs())) return undefined;
    if (empty !== undefined) end(...empty);
    const watched: Watched = {
      watch: watchNamespace(namespace, { ...parts, ...meters, pace }),
      emptySinceMs: undefined,
    };
    namespaces.set(namespace, watched);
    return watched;
  };

  const attach = (pod: PodWatch): boolean => {
    const watched = namespaces.get(pod.namespace) ?? open(pod.namespace);
    if (watched === undefined) return false;
    watched.emptySinceMs = undefined;
    pod.attach(watched.watch);
    return true;
  };

  const ticker = createTicker(clock, pace.lookMs, () => {
    const nowMs = clock.nowMs();
    for (const [name, watched] of namespaces) {
      if (watched.emptySinceMs !== undefined && nowMs - watched.emptySinceMs >= pace.lingerMs) end(name, watched);
      else watched.watch.look();
    }
    for (const pod of waiting) if (attach(pod)) waiting.delete(pod);
    if (namespaces.size === 0 && waiting.size === 0) ticker.stop();
  });

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
      if (!stopped) ticker.start();
      const endReading = reader?.read(question, pod.learn);
      return () => {
        endReading?.();
        leave(pod);
      };
    },
    stop: async () => {
      stopped = true;
      ticker.stop();
      reader?.stop();
      waiting.clear();
      for (const [name, watched] of namespaces) end(name, watched);
      await Promise.all(ending);
    },
  };
}
