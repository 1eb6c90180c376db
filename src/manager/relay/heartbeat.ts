/**
 * How closely a relay is listened to that a drain waits for. What the relay has shown in this drain is expected of it: one
 * that beats and answers fast is given up half a second after its last word, one on a busy machine later. Pure.
 */
import { RELAY_PULSE_MS } from "../../contract/relay-wire.ts";

/** When the delay is over it must be known whether the relay is still there: time for a handshake on a throttled CPU. */
const LEAD_MS = 1_500;
/** A missed heartbeat. */
const PATIENCE_MS = RELAY_PULSE_MS + 100;
/** From a missed heartbeat on another connection has this long to answer. */
const SECOND_OPINION_MS = 200;
/** Without a heartbeat nothing was missed: asking again is the only way to hear at all. */
const MUTE_ANSWER_MS = 1_000;
const LONGEST_MS = 2_000;
/** Of the slowest beat and the slowest answer that were seen. */
const BEAT_MARGIN = 1.5;
const ANSWER_MARGIN = 3;

/** How often a drain that waits may expect to hear something. */
export type Heartbeat = {
  /** From here on a drain may wait for the word alone. */
  readonly waitsFromMs: number;
  readonly floorAtMs: number;
  /** The connection that speaks was asked for a heartbeat. */
  readonly beats: boolean;
  /** Lines of the connection that speaks. */
  readonly lines: number;
  /** The longest time between two beats, and that to a first line, in this drain. */
  readonly beatMs: number;
  readonly answerMs: number;
  /** How often in a row a connection answered and then did not beat. */
  readonly mute: number;
};

export function beginHeartbeat(): Heartbeat {
  return { waitsFromMs: -1, floorAtMs: -1, beats: false, lines: 0, beatMs: 0, answerMs: 0, mute: 0 };
}

/** The drain has begun, and its delay is over in so many milliseconds. */
export function heartbeatUntil(heartbeat: Heartbeat, nowMs: number, inMs: number): Heartbeat {
  const floorAtMs = nowMs + inMs;
  return { ...heartbeat, floorAtMs, waitsFromMs: Math.max(nowMs, floorAtMs - LEAD_MS) };
}

/** After the first line of a connection. @param beats whether it was asked for a heartbeat. @param tookMs since it was opened */
export function heartbeatOfNew(heartbeat: Heartbeat, beats: boolean, tookMs: number): Heartbeat {
  // A connection that should beat, answered once and fell silent, and now the next one: the relay lives and has no heartbeat.
  const mute = heartbeat.beats && heartbeat.lines === 1 ? heartbeat.mute + 1 : heartbeat.mute;
  return { ...heartbeat, beats, lines: 1, mute, answerMs: Math.max(heartbeat.answerMs, tookMs) };
}

/** After a further line. @param gapMs since the last one */
export function heartbeatOfNext(heartbeat: Heartbeat, gapMs: number): Heartbeat {
  if (!heartbeat.beats) return { ...heartbeat, lines: heartbeat.lines + 1 };
  return { ...heartbeat, lines: heartbeat.lines + 1, mute: 0, beatMs: Math.max(heartbeat.beatMs, gapMs) };
}

/** Whether a connection opened now is asked for a heartbeat. */
export function waitsForWord(heartbeat: Heartbeat, nowMs: number): boolean {
  return heartbeat.waitsFromMs >= 0 && nowMs >= heartbeat.waitsFromMs;
}

/** When a word that is relied on is checked by asking again. */
export function doubtAtMs(heartbeat: Heartbeat, heardAtMs: number): number {
  return Math.max(heartbeat.waitsFromMs, heardAtMs + patienceMs(heartbeat));
}

/** When it counts no more. Before the delay is over nothing depends on it. */
export function staleAtMs(heartbeat: Heartbeat, heardAtMs: number): number {
  return Math.max(heartbeat.floorAtMs, heardAtMs + patienceMs(heartbeat) + answerMs(heartbeat));
}

/** How long a connection may take to answer, by what the ones before took. */
export function answerMs(heartbeat: Heartbeat): number {
  const leastMs = heartbeat.mute > 0 ? MUTE_ANSWER_MS : SECOND_OPINION_MS;
  return Math.min(LONGEST_MS, Math.max(leastMs, ANSWER_MARGIN * heartbeat.answerMs));
}

function patienceMs(heartbeat: Heartbeat): number {
  const beatMs = Math.max(PATIENCE_MS, BEAT_MARGIN * heartbeat.beatMs);
  return Math.min(LONGEST_MS, beatMs * 2 ** Math.min(heartbeat.mute, 4));
}
