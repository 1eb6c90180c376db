/** Puts the caches and the Events together and keeps them going; the only part here with a clock. */
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
import { type Reflected, type ReflectorPorts, runReflector } from "../../api-server/reflector.ts";
import { createStore, type Store, summaryOf } from "../../api-server/store.ts";
import type { ClusterFacts } from "../../injection/inject.ts";
import type { NamespaceAnnotations, ReportSettings } from "../admission/admit.ts";
import type { Log } from "../log.ts";
import { outcomeRecorder, type RecordOutcome, settingsRecorder } from "./admission-events.ts";
import { factsOf, keepNode, lowestKubeletVersion, oldRuntime } from "./cluster-facts.ts";
import { type CacheName, clusterMeters } from "./cluster-metrics.ts";
import { isInForce, keepPullEvent, newPullEvents, PULL_EVENTS, pullTroubles } from "./image-pulls.ts";
import { byNamespace, type KeptAnnotations, keepLimitRange, keepNamespace } from "./kept-objects.ts";
import { namespaceArrivals } from "./namespace-arrivals.ts";
import { askServerVersion } from "./server-version.ts";

export type ClusterParts = {
  readonly connection: KubeConfig;
  /** What does not change while the process runs. Its version is used until the API server told its own. */
  readonly base: ClusterFacts;
  readonly asksVersion: boolean;
  /** Whether Events are read that tell of pulls of the manager's image. */
  readonly watchesPulls: boolean;
  readonly log: Log;
  readonly registry: Registry;
};

export type Cluster = {
  readonly namespaceAnnotations: NamespaceAnnotations;
  /** To be asked right after the annotations of the same namespace. */
  readonly factsOf: (namespace: string) => ClusterFacts;
  /** To be asked right after the annotations too. */
  readonly namespaceIsUnknown: (namespace: string) => boolean;
  readonly tell: RecordOutcome;
  readonly reportSettings: ReportSettings;
  /** For what drains leave behind: limits of its own, the same metric. */
  readonly tellDrain: RecordEvent;
  /** Resolves when everything was read once, or after the limit in milliseconds: a caller must not wait forever. */
  readonly firstRead: (limitMs: number) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Pages are small where objects are large: parsing one holds up the admissions. */
const PAGE_SIZES: Readonly<Record<CacheName, number>> = { namespaces: 250, nodes: 50, limitranges: 250, events: 250 };

/**
 * Life of one watch of namespaces. A connection can die without a word, and the next watch brings what that one missed: no
 * Pod of a new namespace is without its annotations for longer.
 */
const NAMESPACE_WATCH_MS = 30_000;

export function startCluster(parts: ClusterParts): Cluster {
  const { log } = parts;
  const api = createApiClient(parts.connection);
  const stop = new AbortController();
  const nowMs = () => performance.now();
  // These timers keep the process: while nothing else does, it has not begun to listen, and has to wait for its turn.
  const pause: ReflectorPorts["sleep"] = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined);

  const namespaces = createStore(keepNamespace);
  const arrivals = namespaceArrivals({
    cached: (name) => namespaces.entries.get(name),
    nowMs,
    later: (ms, call) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
  });
  const shownNamespaces: Store<KeptAnnotations> = {
    ...namespaces,
    put: (namespace) => {
      namespaces.put(namespace);
      arrivals.look();
    },
    replace: (listed) => {
      namespaces.replace(listed);
      arrivals.look();
    },
  };
  const nodes = createStore(keepNode);
  const limitRanges = createStore(keepLimitRange);
  const pulls = createStore(keepPullEvent(parts.base.managerImage, Date.now), newPullEvents);
  const stores: Readonly<Record<CacheName, Pick<Store<unknown>, "entries">>> = {
    namespaces,
    nodes,
    limitranges: limitRanges,
    events: pulls,
  };
  const freshness = new Map<CacheName, Freshness>();
  const freshnessOf = (cache: CacheName): Freshness => freshness.get(cache) ?? NEVER_SYNCED;
  const meters = clusterMeters(parts.registry, (cache) =>
    cache === "events" && !parts.watchesPulls
      ? undefined
      : {
          ageSeconds: (nowMs() - (freshnessOf(cache).lastResponseMs ?? 0)) / 1_000,
          stale: isStale(freshnessOf(cache), nowMs()),
          entries: stores[cache].entries.size,
        },
  );

  const note = (cache: CacheName, { freshness: now, change }: FreshnessUpdate): void => {
    freshness.set(cache, now);
    if (change === "lost") log.warn({ cache, why: now.failure }, "API server cannot be read, older knowledge is used");
    if (change === "back") log.info({ cache }, "API server can be read again");
  };

  const keepUp = <T>(
    cache: CacheName,
    path: string,
    store: Store<T>,
    watch: Pick<Reflected<T>, "watchMs" | "fieldSelector"> = {},
  ): { first: Promise<void>; end: Promise<void> } => {
    let arrived: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const followed = { path, pageSize: PAGE_SIZES[cache], store, relistMs: RELIST_MS, ...watch };
    const heard = (): void => note(cache, afterResponse(freshnessOf(cache), nowMs()));
    const end = runReflector(
      followed,
      {
        request: api.request,
        stream: api.stream,
        nowMs,
        sleep: pause,
        random: Math.random,
        onListed: () => {
          meters.listed(cache);
          heard();
          arrived();
        },
        onResponse: heard,
        onFailed: (why) => {
          meters.failed(cache);
          note(cache, afterFailure(freshnessOf(cache), why));
        },
      },
      stop.signal,
    );
    return { first, end };
  };

  const version = parts.asksVersion
    ? askServerVersion({ request: api.request, sleep: pause, random: Math.random, log }, stop.signal)
    : undefined;
  const loops = [
    keepUp("namespaces", "/api/v1/namespaces", shownNamespaces, { watchMs: NAMESPACE_WATCH_MS }),
    keepUp("nodes", "/api/v1/nodes", nodes),
    keepUp("limitranges", "/api/v1/limitranges", limitRanges),
    ...(parts.watchesPulls ? [keepUp("events", "/api/v1/events", pulls, { fieldSelector: PULL_EVENTS })] : []),
    ...(version === undefined ? [] : [version]),
  ];

  const lowest = summaryOf(nodes, (entries) => ({
    version: lowestKubeletVersion(entries.values()),
    oldRuntime: oldRuntime(entries.values()),
  }));
  const ranges = summaryOf(limitRanges, byNamespace);
  const troubles = summaryOf(pulls, pullTroubles);
  const troubleIn = (namespace: string): string | undefined => {
    const trouble = troubles().get(namespace);
    return isInForce(trouble, Date.now()) ? trouble.message : undefined;
  };

  const eventPorts = {
    request: api.request,
    nowMs,
    wallMs: Date.now,
    random: Math.random,
    suffix: () => randomBytes(8).toString("hex"),
    instance: hostname(),
    isKnown: arrivals.isKnown,
    count: meters.event,
  };

  const sendEvent = createEventRecorder({ ...eventPorts, reporter: "lastcall.dev/webhook" });

  return {
    namespaceAnnotations: arrivals.annotations,
    factsOf: (namespace) =>
      factsOf(parts.base, namespace, {
        apiServerVersion: version?.current(),
        lowestKubeletVersion: lowest().version,
        oldRuntime: lowest().oldRuntime,
        nodesAreStale: isStale(freshnessOf("nodes"), nowMs()),
        limitRanges: ranges().get(namespace),
        namespaceIsUnknown: !arrivals.isKnown(namespace),
        imageTrouble: troubleIn(namespace),
      }),
    namespaceIsUnknown: (namespace) => !arrivals.isKnown(namespace),
    tell: outcomeRecorder(sendEvent),
    reportSettings: settingsRecorder(sendEvent),
    tellDrain: createEventRecorder({ ...eventPorts, reporter: "lastcall.dev/relay" }),
    firstRead: async (limitMs) => {
      const read = Promise.all(loops.map((loop) => loop.first)).then(() => true);
      const done = await Promise.race([read, pause(limitMs, stop.signal).then(() => false)]);
      if (!done) log.warn({ limitMs }, "API server was not read in time, starting without");
    },
    stop: async () => {
      stop.abort();
      await Promise.all(loops.map((loop) => loop.end));
      api.close();
    },
  };
}
