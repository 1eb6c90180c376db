/** Runs one watch of slices per namespace in which a Pod drains. */
import type { Registry } from "prom-client";
import { keyedBuckets } from "../../api-server/token-buckets.ts";
import type { WithdrawalRequest, WithdrawalStatusLine } from "../../contract/relay-wire.ts";
import { sliceMetrics } from "../metrics.ts";
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

/** Calls `onStatus` at once and with every change; each line replaces the one before. @returns stops watching */
export type WatchPod = (request: WithdrawalRequest, onStatus: (line: WithdrawalStatusLine) => void) => () => void;

type SliceWatchParts = Omit<NamespaceWatchPorts, "pace" | "countEvent" | "countFailure"> & {
  readonly readsPods: boolean;
  readonly registry: Registry;
  readonly pace?: SlicePace;
};

export type SliceWatches = {
  readonly watchPod: WatchPod;
  readonly stop: () => Promise<void>;
};

type Watched = { readonly watch: NamespaceWatch; emptySinceMs: number | undefined };

export function createSliceWatches(parts: SliceWatchParts): SliceWatches {
  const { clock, pace = SLICE_PACE } = parts;
  const namespaces = new Map<string, Watched>();
  const waiting = new Set<PodWatch>();
  const ending = new Set<Promise<void>>();
  const metrics = sliceMetrics(parts.registry, () => namespaces.size);
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

  /** At the limit replaces a namespace without drains. @returns `undefined` at the limit or without a token */
  const open = (namespace: string): Watched | undefined => {
    if (stopped) return undefined;
    const isFull = namespaces.size >= pace.namespaceLimit;
    const empty = isFull ? emptyNamespace() : undefined;
    if ((isFull && empty === undefined) || !openings.take("", clock.nowMs())) return undefined;
    if (empty !== undefined) end(...empty);
    const watched: Watched = {
      watch: watchNamespace(namespace, { ...parts, ...metrics, pace }),
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

  const ticker = createTicker(clock, pace.checkMs, () => {
    const nowMs = clock.nowMs();
    for (const [name, watched] of namespaces) {
      if (watched.emptySinceMs !== undefined && nowMs - watched.emptySinceMs >= pace.lingerMs) end(name, watched);
      else watched.watch.check();
    }
    for (const pod of waiting) if (attach(pod)) waiting.delete(pod);
    if (namespaces.size === 0 && waiting.size === 0) ticker.stop();
  });

  const leave = (pod: PodWatch): void => {
    waiting.delete(pod);
    pod.leave();
    const watched = namespaces.get(pod.namespace);
    if (watched?.watch.clientCount() === 0) watched.emptySinceMs ??= clock.nowMs();
  };

  return {
    watchPod: (request, onStatus) => {
      const onFault = (err: unknown): void =>
        parts.log.warn({ err, namespace: request.namespace, pod: request.pod }, "cannot evaluate slices");
      const pod = watchOnePod(request, { onStatus, onFault }, "the limit of watched namespaces is reached");
      if (!attach(pod)) {
        pod.update();
        waiting.add(pod);
      }
      if (!stopped) ticker.start();
      const endReading = reader?.read(request, pod.setFacts);
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
