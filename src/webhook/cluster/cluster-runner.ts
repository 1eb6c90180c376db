/** Assembles and runs the caches of cluster objects and the Event recorders. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Registry } from "prom-client";
import { createApiClient } from "../../api-server/api-client.ts";
import { createEventRecorder, type RecordEvent } from "../../api-server/event-recorder.ts";
import {
  afterFailure,
  afterResponse,
  type Freshness,
  type FreshnessUpdate,
  isStale,
  NEVER_SYNCED,
  RELIST_MS,
} from "../../api-server/freshness.ts";
import { type ReflectedResource, type ReflectorPorts, runReflector } from "../../api-server/reflector.ts";
import { createStore, createSummaryReader, type Store } from "../../api-server/store.ts";
import type { ClusterFacts } from "../../injection/inject.ts";
import type { NamespaceAnnotations, ReportSettings } from "../admission/admit.ts";
import type { Log } from "../log.ts";
import { outcomeRecorder, type RecordOutcome, settingsRecorder } from "./admission-events.ts";
import { factsOf, findRuntimeWithoutImageVolumes, lowestKubeletVersion, reduceNode } from "./cluster-facts.ts";
import { type CacheName, createClusterMetrics } from "./cluster-metrics.ts";
import { isCurrent, newPullEvents, PULL_EVENTS, pullErrorsByNamespace, pullEventReducer } from "./image-pulls.ts";
import { createNamespaceLookup } from "./namespace-lookup.ts";
import { byNamespace, type RelevantAnnotations, reduceLimitRange, reduceNamespace } from "./reduced-objects.ts";
import { watchServerVersion } from "./server-version.ts";

export type ClusterOptions = {
  readonly kubeConfig: KubeConfig;
  /** Facts that are constant for the process; `apiServerVersion` applies until the API server's version is read. */
  readonly constantFacts: ClusterFacts;
  readonly readsVersion: boolean;
  readonly watchesPulls: boolean;
  readonly log: Log;
  readonly registry: Registry;
};

export type Cluster = {
  readonly namespaceAnnotations: NamespaceAnnotations;
  /** Call it when `namespaceAnnotations` of the namespace has resolved, which also shows whether the namespace is known. */
  readonly factsOf: (namespace: string) => ClusterFacts;
  readonly namespaceIsUnknown: (namespace: string) => boolean;
  readonly recordOutcome: RecordOutcome;
  readonly reportSettings: ReportSettings;
  /** For Events about drains; has its own rate limits. */
  readonly recordDrainEvent: RecordEvent;
  /** Resolves when every cache is filled, or after `limitMs`. */
  readonly firstRead: (limitMs: number) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Objects per page of a list. Smaller for large objects, because parsing a page blocks admissions. */
const PAGE_SIZES: Readonly<Record<CacheName, number>> = { namespaces: 250, nodes: 50, limitranges: 250, events: 250 };

/**
 * Duration of one watch of namespaces. The next watch delivers the changes that a silently broken connection missed. For this
 * time at most, Pods of a new namespace are injected without its annotations.
 */
const NAMESPACE_WATCH_MS = 30_000;

export function startCluster(options: ClusterOptions): Cluster {
  const { log } = options;
  const api = createApiClient(options.kubeConfig);
  const stop = new AbortController();
  const nowMs = () => performance.now();
  // Without `unref`, because these timers have to keep the process alive until it listens.
  const pause: ReflectorPorts["sleep"] = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined);

  const namespaces = createStore(reduceNamespace);
  const namespaceLookup = createNamespaceLookup({
    readCached: (name) => namespaces.entries.get(name),
    nowMs,
    schedule: (ms, call) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
  });
  const notifyingNamespaces: Store<RelevantAnnotations> = {
    ...namespaces,
    put: (namespace) => {
      namespaces.put(namespace);
      namespaceLookup.notifyWaiters();
    },
    replace: (listed) => {
      namespaces.replace(listed);
      namespaceLookup.notifyWaiters();
    },
  };
  const nodes = createStore(reduceNode);
  const limitRanges = createStore(reduceLimitRange);
  const pullEvents = createStore(pullEventReducer(options.constantFacts.managerImage, Date.now), newPullEvents);
  const stores: Readonly<Record<CacheName, Pick<Store<unknown>, "entries">>> = {
    namespaces,
    nodes,
    limitranges: limitRanges,
    events: pullEvents,
  };
  const freshness = new Map<CacheName, Freshness>();
  const freshnessOf = (cache: CacheName): Freshness => freshness.get(cache) ?? NEVER_SYNCED;
  const metrics = createClusterMetrics(options.registry, (cache) =>
    cache === "events" && !options.watchesPulls
      ? undefined
      : {
          ageSeconds: (nowMs() - (freshnessOf(cache).lastResponseMs ?? 0)) / 1_000,
          isStale: isStale(freshnessOf(cache), nowMs()),
          entries: stores[cache].entries.size,
        },
  );

  const recordFreshness = (cache: CacheName, { freshness: newFreshness, change }: FreshnessUpdate): void => {
    freshness.set(cache, newFreshness);
    if (change === "lost")
      log.warn({ cache, why: newFreshness.failure }, "API server is unreachable; the webhook uses cached objects");
    if (change === "back") log.info({ cache }, "API server is reachable again");
  };

  const startCache = <T>(
    cache: CacheName,
    path: string,
    store: Store<T>,
    watch: Pick<ReflectedResource<T>, "watchMs" | "fieldSelector"> = {},
  ): { firstRead: Promise<void>; end: Promise<void> } => {
    let onFirstList: () => void = () => undefined;
    const firstRead = new Promise<void>((resolve) => {
      onFirstList = resolve;
    });
    const resource = { path, pageSize: PAGE_SIZES[cache], store, relistMs: RELIST_MS, ...watch };
    const onResponse = (): void => recordFreshness(cache, afterResponse(freshnessOf(cache), nowMs()));
    const end = runReflector(
      resource,
      {
        request: api.request,
        stream: api.stream,
        nowMs,
        sleep: pause,
        random: Math.random,
        onListed: () => {
          metrics.countList(cache);
          onResponse();
          onFirstList();
        },
        onResponse,
        onFailed: (why) => {
          metrics.countFailure(cache);
          recordFreshness(cache, afterFailure(freshnessOf(cache), why));
        },
      },
      stop.signal,
    );
    return { firstRead, end };
  };

  const serverVersion = options.readsVersion
    ? watchServerVersion({ request: api.request, sleep: pause, random: Math.random, log }, stop.signal)
    : undefined;
  const loops = [
    startCache("namespaces", "/api/v1/namespaces", notifyingNamespaces, { watchMs: NAMESPACE_WATCH_MS }),
    startCache("nodes", "/api/v1/nodes", nodes),
    startCache("limitranges", "/api/v1/limitranges", limitRanges),
    ...(options.watchesPulls
      ? [startCache("events", "/api/v1/events", pullEvents, { fieldSelector: PULL_EVENTS })]
      : []),
    ...(serverVersion === undefined ? [] : [serverVersion]),
  ];

  const nodeSummary = createSummaryReader(nodes, (entries) => ({
    version: lowestKubeletVersion(entries.values()),
    runtimeWithoutImageVolumes: findRuntimeWithoutImageVolumes(entries.values()),
  }));
  const limitRangesByNamespace = createSummaryReader(limitRanges, byNamespace);
  const pullErrors = createSummaryReader(pullEvents, pullErrorsByNamespace);
  const pullErrorIn = (namespace: string): string | undefined => {
    const error = pullErrors().get(namespace);
    return isCurrent(error, Date.now()) ? error.message : undefined;
  };

  const eventPorts = {
    request: api.request,
    nowMs,
    wallMs: Date.now,
    random: Math.random,
    createNameSuffix: () => randomBytes(8).toString("hex"),
    instance: hostname(),
    isKnownNamespace: namespaceLookup.isKnown,
    count: metrics.countEvent,
  };

  const recordAdmissionEvent = createEventRecorder({ ...eventPorts, reporter: "lastcall.dev/webhook" });

  return {
    namespaceAnnotations: namespaceLookup.annotations,
    factsOf: (namespace) =>
      factsOf(options.constantFacts, namespace, {
        apiServerVersion: serverVersion?.current(),
        lowestKubeletVersion: nodeSummary().version,
        runtimeWithoutImageVolumes: nodeSummary().runtimeWithoutImageVolumes,
        nodesAreStale: isStale(freshnessOf("nodes"), nowMs()),
        limitRanges: limitRangesByNamespace().get(namespace),
        namespaceIsUnknown: !namespaceLookup.isKnown(namespace),
        imagePullError: pullErrorIn(namespace),
      }),
    namespaceIsUnknown: (namespace) => !namespaceLookup.isKnown(namespace),
    recordOutcome: outcomeRecorder(recordAdmissionEvent),
    reportSettings: settingsRecorder(recordAdmissionEvent),
    recordDrainEvent: createEventRecorder({ ...eventPorts, reporter: "lastcall.dev/relay" }),
    firstRead: async (limitMs) => {
      const allListed = Promise.all(loops.map((loop) => loop.firstRead)).then(() => true);
      const isFilled = await Promise.race([allListed, pause(limitMs, stop.signal).then(() => false)]);
      if (!isFilled)
        log.warn({ limitMs }, "API server did not return all lists in time; the webhook starts with incomplete caches");
    },
    stop: async () => {
      stop.abort();
      await Promise.all(loops.map((loop) => loop.end));
      api.close();
    },
  };
}
