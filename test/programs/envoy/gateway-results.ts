/**
 * Lists results of Envoy Gateway's shutdown manager (commit d32f282, its defaults) with the same Envoy 1.40.0, measured on a
 * similar machine: three runs for each row; the results of the three runs differed by less than 0.1 s. The suite does not
 * repeat the measurements.
 */

export type GatewayResult = {
  readonly scenario: string;
  readonly releasedSeconds: number;
  /** Time from the last traffic to Envoy's stop signal; undefined if the end of the traffic did not end the drain. */
  readonly afterTrafficSeconds?: number;
  readonly failureCell: string;
};

/** In each of these drains the hook's connection broke, which a kubelet reports as FailedPreStopHook. */
export const GATEWAY_RESULTS: readonly GatewayResult[] = [
  { scenario: "none", releasedSeconds: 11, afterTrafficSeconds: 11, failureCell: "0" },
  { scenario: "http1", releasedSeconds: 11, afterTrafficSeconds: 9, failureCell: "0 of 7503" },
  { scenario: "http2", releasedSeconds: 11, afterTrafficSeconds: 9, failureCell: "0 of 7503" },
  { scenario: "each", releasedSeconds: 11, failureCell: "0 of 21" },
  { scenario: "request-8", releasedSeconds: 11, afterTrafficSeconds: 3.1, failureCell: "0" },
  { scenario: "request-14", releasedSeconds: 16, afterTrafficSeconds: 1.6, failureCell: "0" },
  { scenario: "idle-http1", releasedSeconds: 61, afterTrafficSeconds: 61, failureCell: "0" },
  { scenario: "idle-http2", releasedSeconds: 61, afterTrafficSeconds: 61, failureCell: "0" },
  { scenario: "tcp-ends", releasedSeconds: 16, afterTrafficSeconds: 1.5, failureCell: "0" },
  { scenario: "tcp-stays", releasedSeconds: 61, failureCell: "cut" },
];

/** Resident memory of the shutdown manager; during the drain a second process of the same size runs. */
export const GATEWAY_RESIDENT_MIB = 82;
