/**
 * Computes how long a drain waits for the relay's next status line, from the gaps and response times during this drain: half a
 * second for a fast relay, longer for a relay on a busy machine. Pure.
 */
import { RELAY_HEARTBEAT_MS } from "../../contract/relay-wire.ts";

/** Connections request a heartbeat this long before the drain delay ends: a TLS handshake on a throttled CPU takes that long. */
const CHECK_BEFORE_DELAY_END_MS = 1_500;
const MISSED_AFTER_MS = RELAY_HEARTBEAT_MS + 100;
const RECHECK_ANSWER_MS = 200;
/** Longer than with a heartbeat, because each status then needs a new connection. */
const ANSWER_WITHOUT_HEARTBEAT_MS = 1_000;
const LONGEST_MS = 2_000;
/** Factors on the longest gap and the slowest response of this drain. */
const GAP_MARGIN = 1.5;
const ANSWER_MARGIN = 3;

export type Heartbeat = {
  /** Time from which new connections request a heartbeat; -1 before the drain starts. */
  readonly wantedFromMs: number;
  readonly delayEndMs: number;
  readonly isRequested: boolean;
  readonly lines: number;
  /** The longest time between two lines in this drain. */
  readonly longestGapMs: number;
  /** The longest time from a dial to the first line in this drain. */
  readonly slowestAnswerMs: number;
  /** Number of consecutive connections that requested a heartbeat and received only one line. */
  readonly withoutHeartbeat: number;
};

export function newHeartbeat(): Heartbeat {
  return {
    wantedFromMs: -1,
    delayEndMs: -1,
    isRequested: false,
    lines: 0,
    longestGapMs: 0,
    slowestAnswerMs: 0,
    withoutHeartbeat: 0,
  };
}

export function startDrainDelay(heartbeat: Heartbeat, nowMs: number, inMs: number): Heartbeat {
  const delayEndMs = nowMs + inMs;
  return { ...heartbeat, delayEndMs, wantedFromMs: Math.max(nowMs, delayEndMs - CHECK_BEFORE_DELAY_END_MS) };
}

export function afterFirstLine(heartbeat: Heartbeat, isRequested: boolean, tookMs: number): Heartbeat {
  // The last connection received only one line, and a new connection works. So the relay runs, but sends no heartbeat.
  const withoutHeartbeat =
    heartbeat.isRequested && heartbeat.lines === 1 ? heartbeat.withoutHeartbeat + 1 : heartbeat.withoutHeartbeat;
  return {
    ...heartbeat,
    isRequested,
    lines: 1,
    withoutHeartbeat,
    slowestAnswerMs: Math.max(heartbeat.slowestAnswerMs, tookMs),
  };
}

export function afterNextLine(heartbeat: Heartbeat, gapMs: number): Heartbeat {
  if (!heartbeat.isRequested) return { ...heartbeat, lines: heartbeat.lines + 1 };
  return {
    ...heartbeat,
    lines: heartbeat.lines + 1,
    withoutHeartbeat: 0,
    longestGapMs: Math.max(heartbeat.longestGapMs, gapMs),
  };
}

export function wantsHeartbeat(heartbeat: Heartbeat, nowMs: number): boolean {
  return heartbeat.wantedFromMs >= 0 && nowMs >= heartbeat.wantedFromMs;
}

/** Time at which a second connection requests the status that a drain waits for. */
export function recheckAtMs(heartbeat: Heartbeat, lastReceivedAtMs: number): number {
  return Math.max(heartbeat.wantedFromMs, lastReceivedAtMs + missedAfterMs(heartbeat));
}

/** Time at which the status expires. Before the end of the drain delay it never expires, because nothing depends on the status. */
export function staleAtMs(heartbeat: Heartbeat, lastReceivedAtMs: number): number {
  return Math.max(heartbeat.delayEndMs, lastReceivedAtMs + missedAfterMs(heartbeat) + answerLimitMs(heartbeat));
}

export function answerLimitMs(heartbeat: Heartbeat): number {
  const leastMs = heartbeat.withoutHeartbeat > 0 ? ANSWER_WITHOUT_HEARTBEAT_MS : RECHECK_ANSWER_MS;
  return Math.min(LONGEST_MS, Math.max(leastMs, ANSWER_MARGIN * heartbeat.slowestAnswerMs));
}

function missedAfterMs(heartbeat: Heartbeat): number {
  const gapMs = Math.max(MISSED_AFTER_MS, GAP_MARGIN * heartbeat.longestGapMs);
  return Math.min(LONGEST_MS, gapMs * 2 ** Math.min(heartbeat.withoutHeartbeat, 4));
}
