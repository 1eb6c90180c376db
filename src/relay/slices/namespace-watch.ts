/** Watches the slices of one namespace, and notifies its Pods of changes and of doubts about what it has read. */
import type { AskApi, StreamApi } from "../../api-server/api-request.ts";
import { type Freshness, type Heard, NEVER_HEARD, onFailed, onHeard } from "../../api-server/freshness.ts";
import { follow } from "../../api-server/watch-runner.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { PodIdentity } from "../../kubernetes/rotation/rotation.ts";
import type { Clock } from "./clock.ts";
import type { SlicePace } from "./pace.ts";
import { type Asker, createSliceIndex } from "./slice-index.ts";

export type LogLine = (keys: Readonly<Record<string, unknown>>, sentence: string) => void;

type NamespaceWatchPorts = {
  readonly ask: AskApi;
  readonly stream: StreamApi;
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
  let freshness: Freshness = NEVER_HEARD;
  let doubt = doubtAbout(freshness, clock.nowMs(), pace.beliefMs);

  const look = (): void => {
    const now = doubtAbout(freshness, clock.nowMs(), pace.beliefMs);
    if (now === doubt) return;
    doubt = now;
    for (const changed of listeners) changed();
  };

  const update = ({ freshness: now, change }: Heard): void => {
    freshness = now;
    if (change === "lost") log.warn({ namespace, why: now.failure }, "EndpointSlices cannot be read");
    if (change === "back") log.info({ namespace }, "EndpointSlices can be read again");
    look();
  };
  const heard = (): void => update(onHeard(freshness, clock.nowMs()));
  const counted = (apply: (object: RawObject) => void) => (object: RawObject) => {
    ports.countEvent();
    apply(object);
  };

  const ended = follow(
    {
      path: `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`,
      pageSize: pace.pageSize,
      store: { ...index.store, put: counted(index.store.put), remove: counted(index.store.remove) },
      relistMs: pace.relistMs,
      watchMs: pace.watchMs,
      silenceMs: () => pace.silenceMs + pace.silencePerSliceMs * index.store.entries.size,
      retryLimitMs: pace.retryLimitMs,
    },
    {
      ask: (question) => ports.ask({ ...question, limitMs: Math.min(question.limitMs, pace.askLimitMs) }),
      stream: ports.stream,
      nowMs: clock.nowMs,
      sleep: clock.sleep,
      random: ports.random,
      onListed: heard,
      onHeard: heard,
      onFailed: (why) => {
        ports.countFailure();
        // The first reason stays: each new one would be a line to thousands of streams.
        update(onFailed(freshness, freshness.failure ?? why));
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
  const { heardMs, failure } = freshness;
  const because = failure === undefined ? "" : `: ${failure.slice(0, FAILURE_LIMIT)}`;
  if (heardMs === undefined)
    return failure === undefined ? "the slices are being read" : `the slices could not be read yet${because}`;
  if (nowMs - heardMs <= beliefMs) return undefined;
  return `nothing was heard of the slices for ${Math.round(beliefMs / 1_000)} s${because}`;
}
