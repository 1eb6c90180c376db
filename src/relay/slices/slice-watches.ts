/** Runs one watch of slices per namespace in which a Pod drains. */
import type { Registry } from "prom-client";
import { createKeyedBuckets } from "../../api-server/token-buckets.ts";
import type { WithdrawalRequest, WithdrawalStatusLine } from "../../contract/relay-wire.ts";
import { sliceMetrics } from "../metrics.ts";
import { createTicker } from "./clock.ts";
import {
  type NamespaceWatch,
  type NamespaceWatchPorts,
  SLICE_WATCH_TIMING,
  type SliceWatchTiming,
  watchNamespace,
} from "./namespace-watch.ts";
import { createPodReader } from "./pod-reader.ts";
import { type PodWatch, watchOnePod } from "./pod-watch.ts";

/** Calls `onStatus` immediately and with every change; a line replaces the previous one. @returns a function that ends the watch */
export type WatchPod = (request: WithdrawalRequest, onStatus: (line: WithdrawalStatusLine) => void) => () => void;

type SliceWatchParts = Omit<NamespaceWatchPorts, "timing" | "countEvent" | "countFailure"> & {
  readonly readsPods: boolean;
  readonly registry: Registry;
  readonly timing?: SliceWatchTiming;
};

export type SliceWatches = {
  readonly watchPod: WatchPod;
  readonly stop: () => Promise<void>;
};

type WatchedNamespace = { readonly watch: NamespaceWatch; emptySinceMs: number | undefined };

export function createSliceWatches(parts: SliceWatchParts): SliceWatches {
  const { clock, timing = SLICE_WATCH_TIMING } = parts;
  const namespaces = new Map<string, WatchedNamespace>();
  const waitingPods = new Set<PodWatch>();
  const endingWatches = new Set<Promise<void>>();
  const metrics = sliceMetrics(parts.registry, () => namespaces.size);
  const podReader = parts.readsPods ? createPodReader(parts.request, clock) : undefined;
  const openings = createKeyedBuckets(timing.openings, 1);
  let isStopped = false;

  const endWatch = (namespace: string, { watch }: WatchedNamespace): void => {
    namespaces.delete(namespace);
    const watchEnd = watch.end();
    endingWatches.add(watchEnd);
    void watchEnd.finally(() => endingWatches.delete(watchEnd));
  };

  const findEmptyNamespace = (): readonly [string, WatchedNamespace] | undefined => {
    for (const entry of namespaces) if (entry[1].emptySinceMs !== undefined) return entry;
    return undefined;
  };

  /**
   * At the limit, replaces the watch of a namespace without drains.
   *
   * @returns `undefined` if no watch can be replaced, or if the rate of new watches is exceeded
   */
  const openWatch = (namespace: string): WatchedNamespace | undefined => {
    if (isStopped) return undefined;
    const isFull = namespaces.size >= timing.namespaceLimit;
    const replacedEntry = isFull ? findEmptyNamespace() : undefined;
    if ((isFull && replacedEntry === undefined) || !openings.take("", clock.nowMs())) return undefined;
    if (replacedEntry !== undefined) endWatch(...replacedEntry);
    const watchedNamespace: WatchedNamespace = {
      watch: watchNamespace(namespace, { ...parts, ...metrics, timing }),
      emptySinceMs: undefined,
    };
    namespaces.set(namespace, watchedNamespace);
    return watchedNamespace;
  };

  const attach = (pod: PodWatch): boolean => {
    const watchedNamespace = namespaces.get(pod.namespace) ?? openWatch(pod.namespace);
    if (watchedNamespace === undefined) return false;
    watchedNamespace.emptySinceMs = undefined;
    pod.attach(watchedNamespace.watch);
    return true;
  };

  const ticker = createTicker(clock, timing.checkMs, () => {
    const nowMs = clock.nowMs();
    for (const [name, watchedNamespace] of namespaces) {
      if (watchedNamespace.emptySinceMs !== undefined && nowMs - watchedNamespace.emptySinceMs >= timing.lingerMs)
        endWatch(name, watchedNamespace);
      else watchedNamespace.watch.check();
    }
    for (const pod of waitingPods) if (attach(pod)) waitingPods.delete(pod);
    if (namespaces.size === 0 && waitingPods.size === 0) ticker.stop();
  });

  const stopWatching = (pod: PodWatch): void => {
    waitingPods.delete(pod);
    pod.unsubscribe();
    const watchedNamespace = namespaces.get(pod.namespace);
    if (watchedNamespace?.watch.podCount() === 0) watchedNamespace.emptySinceMs ??= clock.nowMs();
  };

  return {
    watchPod: (request, onStatus) => {
      const onFault = (err: unknown): void =>
        parts.log.warn({ err, namespace: request.namespace, pod: request.pod }, "cannot evaluate EndpointSlices");
      const pod = watchOnePod(
        request,
        { onStatus, onFault },
        "the relay already watches its maximum number of namespaces",
      );
      if (!attach(pod)) {
        pod.update();
        waitingPods.add(pod);
      }
      if (!isStopped) ticker.start();
      const stopReading = podReader?.read(request, pod.setDeletion);
      return () => {
        stopReading?.();
        stopWatching(pod);
      };
    },
    stop: async () => {
      isStopped = true;
      ticker.stop();
      podReader?.stop();
      waitingPods.clear();
      for (const [name, watchedNamespace] of namespaces) endWatch(name, watchedNamespace);
      await Promise.all(endingWatches);
    },
  };
}
