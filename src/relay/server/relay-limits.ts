/** Limits what one Pod, one namespace, and all together may take of the relay. Time is an argument. Pure. */
import { type BucketSize, keyedBuckets } from "../../api-server/token-buckets.ts";
import { createCounts } from "../collections.ts";

/** Each open stream holds a TLS connection, some 75 KB. Half are what 5 000 drains in one namespace need. */
const STREAMS_LIMIT = 11_000;

/** A Pod has one manager; a second stream lasts until the relay notices that the first connection is dead. */
const STREAMS_PER_POD = 16;

/** A thousand streams that pulse take a tenth of a core. A manager without pulse sends new requests, which cost more. */
const PULSES_LIMIT = 5_000;

/** 5 000 Pods of one namespace that end at once each ask twice and report. A request costs about 0.1 ms. */
const REQUESTS_PER_NAMESPACE: BucketSize = { capacity: 12_000, refillMs: 5 };

/** Namespaces whose requests are counted; beyond, the count of the one used longest ago starts over. */
const REMEMBERED_LIMIT = 2_000;

type StreamOwner = { readonly namespace: string; readonly uid: string };

export type RelayLimits = {
  /** Takes a token of the namespace, for any route. `nowMs` is monotonic. */
  readonly mayAsk: (namespace: string, nowMs: number) => boolean;
  /** `undefined` when the stream may begin; then `endStream` is called once. */
  readonly beginStream: (owner: StreamOwner) => "pod_streams" | "namespace_streams" | undefined;
  readonly endStream: (owner: StreamOwner) => void;
  /** Streams that are open now. */
  readonly streams: () => number;
  /** Whether a stream of the namespace may pulse; then `endPulse` is called once. */
  readonly beginPulse: (namespace: string) => boolean;
  readonly endPulse: (namespace: string) => void;
};

export function createRelayLimits(streamsLimit: number = STREAMS_LIMIT): RelayLimits {
  const streams = fairShare(streamsLimit);
  const pulses = fairShare(PULSES_LIMIT);
  const perPod = createCounts<string>();
  const podOf = ({ namespace, uid }: StreamOwner): string => `${namespace}/${uid}`;
  return {
    mayAsk: keyedBuckets(REQUESTS_PER_NAMESPACE, REMEMBERED_LIMIT).take,
    beginStream: (owner) => {
      if (perPod.of(podOf(owner)) >= STREAMS_PER_POD) return "pod_streams";
      if (!streams.take(owner.namespace)) return "namespace_streams";
      perPod.add(podOf(owner));
      return undefined;
    },
    endStream: (owner) => {
      streams.giveBack(owner.namespace);
      perPod.remove(podOf(owner));
    },
    streams: streams.taken,
    beginPulse: pulses.take,
    endPulse: pulses.giveBack,
  };
}

/**
 * Divides a fixed number among namespaces that may be hostile: each may have as many as are still free for all, so one
 * that floods gets half, two get a third each, and there is always room for the next.
 */
export function fairShare(limit: number) {
  const byNamespace = createCounts<string>();
  let taken = 0;
  return {
    take: (namespace: string): boolean => {
      if (byNamespace.of(namespace) >= limit - taken) return false;
      taken += 1;
      byNamespace.add(namespace);
      return true;
    },
    giveBack: (namespace: string): void => {
      taken -= 1;
      byNamespace.remove(namespace);
    },
    taken: (): number => taken,
  };
}
