/** What one Pod, one namespace, and all together may take of the relay. Time is an argument. Pure. */
import { type Bucket, type BucketSize, fullBucket, takeToken } from "../../api-server/token-bucket.ts";

export const STREAM_REFUSALS = ["pod_streams", "namespace_streams"] as const;
export type StreamRefusal = (typeof STREAM_REFUSALS)[number];

/** Each open stream holds a TLS connection, some 60 KB. */
const STREAMS_LIMIT = 11_000;

/** A Pod has one manager; a second stream lasts until it is noticed that the first one's connection is dead. */
const STREAMS_PER_POD = 16;

/** 5 000 Pods of one namespace that end at once each ask, ask again, and report. A request costs about 0.1 ms. */
const REQUESTS_PER_NAMESPACE: BucketSize = { most: 12_000, refillMs: 5 };

/** Namespaces whose requests are counted; beyond, the one heard of longest ago begins anew. */
const REMEMBERED_LIMIT = 2_000;

export type StreamOwner = { readonly namespace: string; readonly uid: string };

export type RelayLimits = {
  /** Whether a request of the namespace is taken now; for every route. `nowMs` is monotonic. */
  readonly mayAsk: (namespace: string, nowMs: number) => boolean;
  /** `undefined` when the stream may begin; every one that began is to be ended once. */
  readonly beginStream: (owner: StreamOwner) => StreamRefusal | undefined;
  readonly endStream: (owner: StreamOwner) => void;
  /** Streams that are open now. */
  readonly streams: () => number;
};

/**
 * A namespace may have as many streams as are still free for all: one that floods is stopped at half of them, two at a
 * third each, and there is always room for the next. Half is what 5 000 drains in one namespace need.
 */
export function createRelayLimits(streamsLimit: number = STREAMS_LIMIT): RelayLimits {
  const requests = new Map<string, Bucket>();
  const perNamespace = new Map<string, number>();
  const perPod = new Map<string, number>();
  let streams = 0;

  return {
    mayAsk: (namespace, nowMs) => {
      const before = requests.get(namespace) ?? fullBucket(REQUESTS_PER_NAMESPACE, nowMs);
      const { bucket, taken } = takeToken(before, REQUESTS_PER_NAMESPACE, nowMs);
      requests.delete(namespace);
      requests.set(namespace, bucket);
      if (requests.size > REMEMBERED_LIMIT) forgetOldest(requests);
      return taken;
    },
    beginStream: (owner) => {
      const { namespace } = owner;
      if ((perPod.get(podOf(owner)) ?? 0) >= STREAMS_PER_POD) return "pod_streams";
      if ((perNamespace.get(namespace) ?? 0) >= streamsLimit - streams) return "namespace_streams";
      streams += 1;
      add(perNamespace, namespace, 1);
      add(perPod, podOf(owner), 1);
      return undefined;
    },
    endStream: (owner) => {
      streams -= 1;
      add(perNamespace, owner.namespace, -1);
      add(perPod, podOf(owner), -1);
    },
    streams: () => streams,
  };
}

function forgetOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

function podOf({ namespace, uid }: StreamOwner): string {
  return `${namespace}/${uid}`;
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count <= 0) counts.delete(key);
  else counts.set(key, count);
}
