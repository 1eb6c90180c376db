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
import type { PodIdentity } from "../../kubernetes/endpoints/slice.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { Clock } from "./clock.ts";
import { createSliceIndex, type IndexSubscription } from "./slice-index.ts";

/** In milliseconds, unless the name has another unit. Tests use shorter times. */
export const SLICE_WATCH_TIMING = {
  /** Duration of a watch; less than staleAfterMs, because the API server proves that it is up only by accepting another watch. */
  watchMs: 2_000,
  /** Slices are `unknown` after this time without a response: a relay without API server must not delay a drain. */
  staleAfterMs: 5_000,
  /** Time without an event after which slices are listed again. `silencePerSliceMs` is added per slice, because lists are expensive. */
  silenceMs: 5_000,
  silencePerSliceMs: 50,
  /** Longest time between two lists; lists are rare because they delay the changes of a large namespace. */
  relistMs: 60 * 60_000,
  /** Longest retry delay; client-go's 30 s would be too long for a drain. */
  retryLimitMs: 2_000,
  requestLimitMs: 5_000,
  /** Time for which a watch continues after its last drain: a rollout terminates Pods one by one, and a new watch starts with a list. */
  lingerMs: 30_000,
  checkMs: 250,
  /** Slices per page: usually 1 000 endpoints, half a megabyte, which block the thread for a few milliseconds. */
  pageSize: 10,
  /** Namespaces watched at the same time; each costs a connection and a request per watchMs. */
  namespaceLimit: 500,
  /** Rate of new watches: each starts with a list, and a client may name any number of namespaces. */
  openings: { capacity: 500, refillMs: 50 },
};

export type SliceWatchTiming = typeof SLICE_WATCH_TIMING;

type LogLine = (keys: Readonly<Record<string, unknown>>, sentence: string) => void;

export type NamespaceWatchPorts = {
  readonly request: SendRequest;
  readonly stream: OpenStream;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timing: SliceWatchTiming;
  readonly log: { readonly info: LogLine; readonly warn: LogLine };
  readonly countEvent: () => void;
  readonly countFailure: () => void;
};

export type NamespaceWatch = {
  readonly add: (pod: PodIdentity, onChange: () => void) => IndexSubscription;
  readonly unknownReason: () => string | undefined;
  readonly check: () => void;
  readonly podCount: () => number;
  readonly end: () => Promise<void>;
};

export function watchNamespace(namespace: string, ports: NamespaceWatchPorts): NamespaceWatch {
  const { clock, timing, log } = ports;
  const index = createSliceIndex();
  const listeners = new Set<() => void>();
  const stopController = new AbortController();
  let freshness: Freshness = NEVER_SYNCED;
  let unknownReason = unknownReasonOf(freshness, clock.nowMs(), timing.staleAfterMs);

  const check = (): void => {
    const newReason = unknownReasonOf(freshness, clock.nowMs(), timing.staleAfterMs);
    if (newReason === unknownReason) return;
    unknownReason = newReason;
    for (const onChange of listeners) onChange();
  };

  const update = ({ freshness: newFreshness, change }: FreshnessUpdate): void => {
    freshness = newFreshness;
    if (change === "lost") log.warn({ namespace, why: newFreshness.failure }, "EndpointSlices cannot be read");
    if (change === "back") log.info({ namespace }, "EndpointSlices can be read again");
    check();
  };
  const recordResponse = (): void => update(afterResponse(freshness, clock.nowMs()));
  const countEvents = (apply: (object: RawObject) => void) => (object: RawObject) => {
    ports.countEvent();
    apply(object);
  };

  const watchEnd = runReflector(
    {
      ...timing,
      path: `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`,
      store: { ...index.store, put: countEvents(index.store.put), remove: countEvents(index.store.remove) },
      silenceLimitMs: () => timing.silenceMs + timing.silencePerSliceMs * index.store.entries.size,
    },
    {
      request: (apiRequest) =>
        ports.request({ ...apiRequest, limitMs: Math.min(apiRequest.limitMs, timing.requestLimitMs) }),
      stream: ports.stream,
      nowMs: clock.nowMs,
      sleep: clock.sleep,
      random: ports.random,
      onListed: recordResponse,
      onResponse: recordResponse,
      onFailed: (why) => {
        ports.countFailure();
        // The first reason stays, because each new reason sends a line on thousands of streams.
        update(afterFailure(freshness, freshness.failure ?? why));
      },
    },
    stopController.signal,
  );

  return {
    add: (pod, onChange) => {
      const subscription = index.add(pod, onChange);
      listeners.add(onChange);
      return {
        slices: subscription.slices,
        unsubscribe: () => {
          listeners.delete(onChange);
          subscription.unsubscribe();
        },
      };
    },
    unknownReason: () => unknownReason,
    check,
    podCount: () => listeners.size,
    end: async () => {
      stopController.abort();
      await watchEnd;
    },
  };
}

const FAILURE_LIMIT = 200;
/** The text is part of the report; it must not change while the cause is the same. */
function unknownReasonOf(freshness: Freshness, nowMs: number, staleAfterMs: number): string | undefined {
  const { lastResponseMs, failure } = freshness;
  const cause = failure === undefined ? "" : `: ${failure.slice(0, FAILURE_LIMIT)}`;
  if (lastResponseMs === undefined)
    return failure === undefined ? "EndpointSlices are being read" : `EndpointSlices could not be read yet${cause}`;
  if (nowMs - lastResponseMs <= staleAfterMs) return undefined;
  return `the API server has not responded to requests for EndpointSlices for ${Math.round(staleAfterMs / 1_000)} s${cause}`;
}
