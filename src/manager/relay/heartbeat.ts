/**
 * Computes how long a drain waits for the relay's next status line, from the gaps between its lines and its response times during
 * this drain: half a second for a fast relay, longer for a relay on a busy node. Pure.
 */
import { RELAY_HEARTBEAT_MS } from "../../contract/relay-wire.ts";

/**
 * The relay client opens another connection, with a heartbeat, this long before the drain delay ends, because a TLS handshake on a
 * throttled CPU takes this long.
 */
const CHECK_BEFORE_DELAY_END_MS = 1_500;
const MISSED_AFTER_MS = RELAY_HEARTBEAT_MS + 100;
const RECHECK_TIMEOUT_MS = 200;
/** Longer than with a heartbeat, because without a heartbeat each status needs a new connection. */
const TIMEOUT_WITHOUT_HEARTBEAT_MS = 1_000;
const TIMEOUT_LIMIT_MS = 2_000;
/** Factors on the longest gap and the slowest response of this drain. */
const GAP_FACTOR = 1.5;
const RESPONSE_FACTOR = 3;

export type Heartbeat = {
  /** Time from which new connections request a heartbeat; -1 before the drain starts. */
  readonly requestFromMs: number;
  readonly delayEndMs: number;
  readonly isRequested: boolean;
  readonly lineCount: number;
  /** The longest time between two lines in this drain. */
  readonly longestGapMs: number;
  /** The longest time from a dial to the first line in this drain. */
  readonly slowestResponseMs: number;
  /** Number of consecutive connections that requested a heartbeat and received only one line. */
  readonly connectionsWithoutHeartbeat: number;
};

export function newHeartbeat(): Heartbeat {
  return {
    requestFromMs: -1,
    delayEndMs: -1,
    isRequested: false,
    lineCount: 0,
    longestGapMs: 0,
    slowestResponseMs: 0,
    connectionsWithoutHeartbeat: 0,
  };
}

export function withDrainDelay(heartbeat: Heartbeat, nowMs: number, inMs: number): Heartbeat {
  const delayEndMs = nowMs + inMs;
  return { ...heartbeat, delayEndMs, requestFromMs: Math.max(nowMs, delayEndMs - CHECK_BEFORE_DELAY_END_MS) };
}

export function afterFirstLine(heartbeat: Heartbeat, isRequested: boolean, responseMs: number): Heartbeat {
  // The last connection received only one line, and a new connection works. So the relay runs, but does not send heartbeats.
  const connectionsWithoutHeartbeat =
    heartbeat.isRequested && heartbeat.lineCount === 1
      ? heartbeat.connectionsWithoutHeartbeat + 1
      : heartbeat.connectionsWithoutHeartbeat;
  return {
    ...heartbeat,
    isRequested,
    lineCount: 1,
    connectionsWithoutHeartbeat,
    slowestResponseMs: Math.max(heartbeat.slowestResponseMs, responseMs),
  };
}

export function afterNextLine(heartbeat: Heartbeat, gapMs: number): Heartbeat {
  if (!heartbeat.isRequested) return { ...heartbeat, lineCount: heartbeat.lineCount + 1 };
  return {
    ...heartbeat,
    lineCount: heartbeat.lineCount + 1,
    connectionsWithoutHeartbeat: 0,
    longestGapMs: Math.max(heartbeat.longestGapMs, gapMs),
  };
}

export function requestsHeartbeat(heartbeat: Heartbeat, nowMs: number): boolean {
  return heartbeat.requestFromMs >= 0 && nowMs >= heartbeat.requestFromMs;
}

/** Time at which a second connection requests the status that a drain waits for. */
export function recheckAtMs(heartbeat: Heartbeat, lastReceivedAtMs: number): number {
  return Math.max(heartbeat.requestFromMs, lastReceivedAtMs + gapTimeoutMs(heartbeat));
}

/** Time at which the status expires. Before the end of the drain delay it never expires, because nothing depends on the status. */
export function staleAtMs(heartbeat: Heartbeat, lastReceivedAtMs: number): number {
  return Math.max(heartbeat.delayEndMs, lastReceivedAtMs + gapTimeoutMs(heartbeat) + responseTimeoutMs(heartbeat));
}

export function responseTimeoutMs(heartbeat: Heartbeat): number {
  const minimumMs = heartbeat.connectionsWithoutHeartbeat > 0 ? TIMEOUT_WITHOUT_HEARTBEAT_MS : RECHECK_TIMEOUT_MS;
  return Math.min(TIMEOUT_LIMIT_MS, Math.max(minimumMs, RESPONSE_FACTOR * heartbeat.slowestResponseMs));
}

function gapTimeoutMs(heartbeat: Heartbeat): number {
  const gapMs = Math.max(MISSED_AFTER_MS, GAP_FACTOR * heartbeat.longestGapMs);
  return Math.min(TIMEOUT_LIMIT_MS, gapMs * 2 ** Math.min(heartbeat.connectionsWithoutHeartbeat, 4));
}
