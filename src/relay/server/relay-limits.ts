/** What one Pod, one namespace, and all together may take of the relay. Time is an argument. Pure. */
import { type BucketSize, keyedBuckets } from "../../api-server/token-buckets.ts";

/** Each open stream holds a TLS connection, some 75 KB. Half are what 5 000 drains in one namespace need. */
const STREAMS_LIMIT = 11_000;

/** A Pod has one manager; a second stream lasts until it is noticed that the first one's connection is dead. */
const STREAMS_PER_POD = 16;

/** A thousand streams that pulse take a tenth of a core. A manager that gets no pulse asks again, which costs more. */
const PULSES_LIMIT = 5_000;

/** 5 000 Pods of one namespace that end at once each ask, ask again, and report. A request costs about 0.1 ms. */
const REQUESTS_PER_NAMESPACE: BucketSize = { most: 12_000, refillMs: 5 };

/** Namespaces whose requests are counted; beyond, the count of the one heard of longest ago starts over. */
const REMEMBERED_LIMIT = 2_000;

type StreamOwner = { readonly namespace: string; readonly uid: string };

type StreamRefusal = "pod_streams" | "namespace_streams";

export type RelayLimits = {
  /** Whether a request of the namespace is taken now; for every route. `nowMs` is monotonic. */
  readonly mayAsk: (namespace: string, nowMs: number) => boolean;
  /** `undefined` when the stream may begin; every one that began is to be ended once. */
  readonly beginStream: (owner: StreamOwner) => StreamRefusal | undefined;
  readonly endStream: (owner: StreamOwner) => void;
  /** Streams that are open now. */
  readonly streams: () => number;
  /** Whether a stream of the namespace may pulse; every one that may is to be ended once. */
  readonly beginPulse: (namespace: string) => boolean;
  readonly endPulse: (namespace: string) => void;
};

export function createRelayLimits(streamsLimit: number = STREAMS_LIMIT): RelayLimits {
  const requests = keyedBuckets(REQUESTS_PER_NAMESPACE, REMEMBERED_LIMIT);
  const streams = fairShare(streamsLimit);
  const pulses = fairShare(PULSES_LIMIT);
  const perPod = new Map<string, number>();

  return {
    mayAsk: requests.take,
    beginStream: (owner) => {
      const own = perPod.get(podOf(owner)) ?? 0;
      if (own >= STREAMS_PER_POD) return "pod_streams";
      if (!streams.take(owner.namespace)) return "namespace_streams";
      perPod.set(podOf(owner), own + 1);
      return undefined;
    },
    endStream: (owner) => {
      streams.giveBack(owner.namespace);
      const own = perPod.get(podOf(owner)) ?? 0;
      if (own <= 1) perPod.delete(podOf(owner));
      else perPod.set(podOf(owner), own - 1);
    },
    streams: streams.taken,
    beginPulse: pulses.take,
    endPulse: pulses.giveBack,
  };
}

function podOf({ namespace, uid }: StreamOwner): string {
  return `${namespace}/${uid}`;
}

/** Dividing what there is a fixed number of among namespaces that may be hostile. Pure. */
type FairShare = {
  /** Whether one more may be taken; each that was is to be given back once. */
  readonly take: (namespace: string) => boolean;
  readonly giveBack: (namespace: string) => void;
  readonly taken: () => number;
};

/**
 * A namespace may have as many as are still free for all: one that floods is stopped at half of them, two at a third
 * each, and there is always room for the next.
 */
export function fairShare(limit: number): FairShare {
  const byNamespace = new Map<string, number>();
  let taken = 0;
  return {
    take: (namespace) => {
      const own = byNamespace.get(namespace) ?? 0;
      if (own >= limit - taken) return false;
      taken += 1;
      byNamespace.set(namespace, own + 1);
      return true;
    },
    giveBack: (namespace) => {
      const own = byNamespace.get(namespace) ?? 0;
      taken -= 1;
      if (own <= 1) byNamespace.delete(namespace);
      else byNamespace.set(namespace, own - 1);
    },
    taken: () => taken,
  };
}
