/** Watches the slices of one namespace, and notifies its Pods of changes and of doubts about what it has read. */
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
import { type Asker, createSliceIndex } from "./slice-index.ts";

/** In milliseconds, unless the name has another unit; tests use shorter ones. */
export const SLICE_PACE = {
  /**
   * Life of one watch. A quiet watch sends not even a bookmark, so only the next accepted one proves that the API server
   * is still there; shorter than beliefMs.
   */
  watchMs: 2_000,
  /**
   * Slices whose last sign of life is older are `unknown`. No longer than the shortest wait of a drain whose slices never
   * changed: a relay without API server then delays no drain.
   */
  beliefMs: 5_000,
  /** Accepted but silent watches are believed this long, plus a time per slice: then lists cost at most 20 slices a second. */
  silenceMs: 5_000,
  silencePerSliceMs: 50,
  /** Longest time between two lists. Rare: no change is seen while a large namespace is being listed. */
  relistMs: 60 * 60_000,
  /** Longest pause between two tries; a drain cannot wait for the half minute that caches can. */
  retryLimitMs: 2_000,
  /** One page of a list. */
  askLimitMs: 5_000,
  /** Kept after the last drain: a rollout ends one Pod after another, and each would cost a whole list. */
  lingerMs: 30_000,
  /** Between two checks of doubts, lingering and waiting. */
  lookMs: 250,
  /** Slices per page: usually 1 000 endpoints, half a megabyte, which block the thread for a few milliseconds. */
  pageSize: 10,
  /** Namespaces watched at once; each costs a connection and a request per watchMs. */
  namespaceLimit: 500,
  /** Watches started at once and per time: each starts with a list, and a client may name any number of namespaces. */
  openings: { capacity: 500, refillMs: 50 },
};

export type SlicePace = typeof SLICE_PACE;

type LogLine = (keys: Readonly<Record<string, unknown>>, sentence: string) => void;

export type NamespaceWatchPorts = {
  readonly request: SendRequest;
  readonly stream: OpenStream;
  readonly clock: Clock;
  /** At least 0 and below 1. */
  readonly random: () => number;
  readonly pace: SlicePace;
  readonly log: { readonly info: LogLine; readonly warn: LogLine };
  readonly countEvent: () => void;
  readonly countFailure: () => void;
};

export type NamespaceWatch = {
  /** `changed` is called when slices that name the Pod change, and when the doubt changes. */
  readonly add: (pod: PodIdentity, changed: () => void) => Asker;
  /** Why the slices cannot be believed now. */
  readonly doubt: () => string | undefined;
  /** Notifies every Pod when silence has become a doubt. */
  readonly look: () => void;
  readonly askers: () => number;
  readonly end: () => Promise<void>;
};

export function watchNamespace(namespace: string, ports: NamespaceWatchPorts): NamespaceWatch {
  const { clock, pace, log } = ports;
  const index = createSliceIndex();
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let freshness: Freshness = NEVER_SYNCED;
  let doubt = doubtAbout(freshness, clock.nowMs(), pace.beliefMs);

  const look = (): void => {
    const now = doubtAbout(freshness, clock.nowMs(), pace.beliefMs);
    if (now === doubt) return;
    doubt = now;
    for (const changed of listeners) changed();
  };

  const update = ({ freshness: now, change }: FreshnessUpdate): void => {
    freshness = now;
    if (change === "lost") log.warn({ namespace, why: now.failure }, "EndpointSlices cannot be read");
    if (change === "back") log.info({ namespace }, "EndpointSlices can be read again");
    look();
  };
  const heard = (): void => update(afterResponse(freshness, clock.nowMs()));
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
      request: (question) => ports.request({ ...question, limitMs: Math.min(question.limitMs, pace.askLimitMs) }),
      stream: ports.stream,
      nowMs: clock.nowMs,
      sleep: clock.sleep,
      random: ports.random,
      onListed: heard,
      onResponse: heard,
      onFailed: (why) => {
        ports.countFailure();
        // The first reason stays: each new one would be a line to thousands of streams.
        update(afterFailure(freshness, freshness.failure ?? why));
      },
    },
    stop.signal,
  );

  return {
    add: (pod, changed) => {
      const asker = index.add(pod, changed);
      listeners.add(changed);
      return {
        slices: asker.slices,
        leave: () => {
          listeners.delete(changed);
          asker.leave();
        },
      };
    },
    doubt: () => doubt,
    look,
    askers: () => listeners.size,
    end: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** In characters of an error's message. */
const FAILURE_LIMIT = 200;
/** For the report; equal while the doubt is the same. */
function doubtAbout(freshness: Freshness, nowMs: number, beliefMs: number): string | undefined {
  const { lastResponseMs: heardMs, failure } = freshness;
  const because = failure === undefined ? "" : `: ${failure.slice(0, FAILURE_LIMIT)}`;
  if (heardMs === undefined)
    return failure === undefined ? "the slices are being read" : `the slices could not be read yet${because}`;
  if (nowMs - heardMs <= beliefMs) return undefined;
  return `nothing was heard of the slices for ${Math.round(beliefMs / 1_000)} s${because}`;
}
