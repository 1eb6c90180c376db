/** What one namespace, and all together, may take of the relay. Time is an argument. Pure. */

export type Refusal = "namespace_requests" | "namespace_streams" | "all_streams";

export type RelayLimits = {
  /** Whether a request of the namespace is taken now; for every route. `nowMs` is monotonic. */
  readonly mayAsk: (namespace: string, nowMs: number) => boolean;
  /** `undefined` when the stream may begin; every one that began is to be ended once. */
  readonly beginStream: (namespace: string) => Refusal | undefined;
  readonly endStream: (namespace: string) => void;
  /** Streams that are open now. */
  readonly streams: () => number;
};

export function createRelayLimits(): RelayLimits {
  let streams = 0;
  return {
    mayAsk: () => true,
    beginStream: () => {
      streams += 1;
      return undefined;
    },
    endStream: () => {
      streams -= 1;
    },
    streams: () => streams,
  };
}
