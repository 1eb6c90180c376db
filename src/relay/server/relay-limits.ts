/** Limits streams, heartbeats and requests per Pod, per namespace and in total. Time is an argument. Pure. */
import { type BucketSize, createKeyedBuckets } from "../../api-server/token-buckets.ts";
import { createCounts } from "../collections.ts";

/** Each stream holds a TLS connection of about 75 KB. Half of the streams suffice for 5 000 drains in one namespace. */
const STREAMS_LIMIT = 11_000;

/** A Pod has one manager, but the stream of a broken connection lasts until the relay detects the break. */
const STREAMS_PER_POD_LIMIT = 16;

/** A thousand heartbeats take a tenth of a core. A manager without heartbeats sends new requests, which cost more. */
const HEARTBEATS_LIMIT = 5_000;

/** For 5 000 Pods of one namespace that terminate at the same time, with three requests each. A request takes about 0.1 ms. */
const REQUESTS_PER_NAMESPACE: BucketSize = { capacity: 12_000, refillMs: 5 };

const NAMESPACES_LIMIT = 2_000;

type StreamOwner = { readonly namespace: string; readonly uid: string };

export type RelayLimits = {
  /** Takes a token of the namespace, for any route. `nowMs` is monotonic. */
  readonly takeRequestToken: (namespace: string, nowMs: number) => boolean;
  /** `undefined` when the stream may start; `endStream` must then be called once. */
  readonly startStream: (owner: StreamOwner) => "pod_streams" | "namespace_streams" | undefined;
  readonly endStream: (owner: StreamOwner) => void;
  readonly streams: () => number;
  readonly startHeartbeat: (namespace: string) => boolean;
  readonly endHeartbeat: (namespace: string) => void;
};

export function createRelayLimits(streamsLimit: number = STREAMS_LIMIT): RelayLimits {
  const streams = createFairLimit(streamsLimit);
  const heartbeats = createFairLimit(HEARTBEATS_LIMIT);
  const streamsPerPod = createCounts<string>();
  const podKey = ({ namespace, uid }: StreamOwner): string => `${namespace}/${uid}`;
  return {
    takeRequestToken: createKeyedBuckets(REQUESTS_PER_NAMESPACE, NAMESPACES_LIMIT).take,
    startStream: (owner) => {
      if (streamsPerPod.get(podKey(owner)) >= STREAMS_PER_POD_LIMIT) return "pod_streams";
      if (!streams.take(owner.namespace)) return "namespace_streams";
      streamsPerPod.add(podKey(owner));
      return undefined;
    },
    endStream: (owner) => {
      streams.release(owner.namespace);
      streamsPerPod.remove(podKey(owner));
    },
    streams: streams.takenCount,
    startHeartbeat: heartbeats.take,
    endHeartbeat: heartbeats.release,
  };
}

/**
 * Divides a limit among hostile namespaces: each may take as many streams or heartbeats as are still free. One flooding
 * namespace thus gets half of the limit, two get a third each, and every other namespace still gets a part.
 */
export function createFairLimit(limit: number) {
  const countsByNamespace = createCounts<string>();
  let takenTotal = 0;
  return {
    take: (namespace: string): boolean => {
      if (countsByNamespace.get(namespace) >= limit - takenTotal) return false;
      takenTotal += 1;
      countsByNamespace.add(namespace);
      return true;
    },
    release: (namespace: string): void => {
      takenTotal -= 1;
      countsByNamespace.remove(namespace);
    },
    takenCount: (): number => takenTotal,
  };
}
