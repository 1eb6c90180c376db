/** Watches the slices of one namespace, and notifies its Pods when slices change or become stale. */
import type { OpenStream, SendRequest } from "../../api-server/api-request.ts";
import {
  afterFailure,
  afterResponse,
  type Freshness,
  type FreshnessUpdate,
  NEVER_SYNCED,
} from "../../api-server/freshness.ts";
import { runReflector } from "../../api-server/reflector.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { PodIdentity } from "../../kubernetes/rotation/rotation.ts";
import type { Clock } from "./clock.ts";
import { createSliceIndex, type IndexClient } from "./slice-index.ts";

/** In milliseconds, unless the name has another unit; tests use shorter ones. */
export const SLICE_PACE = {
  /** Of one watch; shorter than trustMs, because only the next accepted watch proves that the API server is up. */
  watchMs: 2_000,
  /** Slices are `unknown` after this time without a response: a relay without API server must not delay a drain. */
  trustMs: 5_000,
  /** Accepted but silent watches are trusted this long, plus a time per slice that limits the cost of lists. */
  silenceMs: 5_000,
  silencePerSliceMs: 50,
  /** Longest time between two lists. Rare: changes are not seen while a large namespace is being listed. */
  relistMs: 60 * 60_000,
  /** Longest retry delay; client-go's 30 s would be too long for a drain. */
  retryLimitMs: 2_000,
  requestLimitMs: 5_000,
  /** Kept after the last drain: a rollout ends one Pod after another, and each would cost a list. */
  lingerMs: 30_000,
  checkMs: 250,
  /** Slices per page: usually 1 000 endpoints, half a megabyte, which block the thread for a few milliseconds. */
  pageSize: 10,
  /** Namespaces watched at once; each costs a connection and a request per watchMs. */
  namespaceLimit: 500,
  /** Rate of new watches: each starts with a list, and a client may name any number of namespaces. */
  openings: { capacity: 500, refillMs: 50 },
};

export type SlicePace = typeof SLICE_PACE;

type LogLine = (keys: Readonly<Record<string, unknown>>, sentence: string) => void;

export type NamespaceWatchPorts = {
  readonly request: SendRequest;
  readonly stream: OpenStream;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pace: SlicePace;
  readonly log: { readonly info: LogLine; readonly warn: LogLine };
  readonly countEvent: () => void;
  readonly countFailure: () => void;
};

export type NamespaceWatch = {
  readonly add: (pod: PodIdentity, changed: () => void) => IndexClient;
  readonly unknownReason: () => string | undefined;
  readonly check: () => void;
  readonly clientCount: () => number;
  readonly end: () => Promise<void>;
};

export function watchNamespace(namespace: string, ports: NamespaceWatchPorts): NamespaceWatch {
  const { clock, pace, log } = ports;
  const index = createSliceIndex();
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let freshness: Freshness = NEVER_SYNCED;
  let unknownReason = unknownReasonOf(freshness, clock.nowMs(), pace.trustMs);

  const check = (): void => {
    const now = unknownReasonOf(freshness, clock.nowMs(), pace.trustMs);
    if (now === unknownReason) return;
    unknownReason = now;
    for (const changed of listeners) changed();
  };

  const update = ({ freshness: now, change }: FreshnessUpdate): void => {
    freshness = now;
    if (change === "lost") log.warn({ namespace, why: now.failure }, "EndpointSlices cannot be read");
    if (change === "back") log.info({ namespace }, "EndpointSlices can be read again");
    check();
  };
  const recordResponse = (): void => update(afterResponse(freshness, clock.nowMs()));
  const counted = (apply: (object: RawObject) => void) => (object: RawObject) => {
    ports.countEvent();
    apply(object);
  };

  const ended = runReflector(
    {
      ...pace,
      path: `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`,
      store: { ...index.store, put: counted(index.store.put), remove: counted(index.store.remove) },
      silenceMs: () => pace.silenceMs + pace.silencePerSliceMs * index.store.entries.size,
    },
    {
      request: (sent) => ports.request({ ...sent, limitMs: Math.min(sent.limitMs, pace.requestLimitMs) }),
      stream: ports.stream,
      nowMs: clock.nowMs,
      sleep: clock.sleep,
      random: ports.random,
      onListed: recordResponse,
      onResponse: recordResponse,
      onFailed: (why) => {
        ports.countFailure();
        // The first reason stays: a new one would be a line on thousands of streams.
        update(afterFailure(freshness, freshness.failure ?? why));
      },
    },
    stop.signal,
  );

  return {
    add: (pod, changed) => {
      const client = index.add(pod, changed);
      listeners.add(changed);
      return {
        slices: client.slices,
        leave: () => {
          listeners.delete(changed);
          client.leave();
        },
      };
    },
    unknownReason: () => unknownReason,
    check,
    clientCount: () => listeners.size,
    end: async () => {
      stop.abort();
      await ended;
    },
  };
}

const FAILURE_LIMIT = 200;
/** For the report; the text stays equal while the cause does. */
function unknownReasonOf(freshness: Freshness, nowMs: number, trustMs: number): string | undefined {
  const { lastResponseMs, failure } = freshness;
  const because = failure === undefined ? "" : `: ${failure.slice(0, FAILURE_LIMIT)}`;
  if (lastResponseMs === undefined)
    return failure === undefined ? "the slices are being read" : `the slices could not be read yet${because}`;
  if (nowMs - lastResponseMs <= trustMs) return undefined;
  return `no response about the slices for ${Math.round(trustMs / 1_000)} s${because}`;
}
