/**
 * How closely a relay is listened to that a drain waits for. What the relay has shown in this drain is expected of it: one
 * that beats and answers fast is given up half a second after its last word, one on a busy machine later. Pure.
 */
import { RELAY_PULSE_MS } from "../../contract/relay-wire.ts";
import type { Asking, Pulse } from "./asking-state.ts";

/** When the delay is over it must be known whether the relay is still there: time for a handshake on a throttled CPU. */
const LEAD_MS = 1_500;
/** A missed pulse. */
const PATIENCE_MS = RELAY_PULSE_MS + 100;
/** From a missed pulse on another connection has this long to answer. */
const SECOND_OPINION_MS = 200;
/** Without a pulse nothing was missed: asking again is the only way to hear at all. */
const MUTE_ANSWER_MS = 1_000;
const LONGEST_MS = 2_000;
/** Of the slowest beat and the slowest answer that were seen. */
const BEAT_MARGIN = 1.5;
const ANSWER_MARGIN = 3;

export function beginPulse(): Pulse {
  return { waitsFromMs: -1, floorAtMs: -1, beats: false, lines: 0, beatMs: 0, answerMs: 0, mute: 0 };
}

/** The drain has begun, and its delay is over in so many milliseconds. */
export function pulseUntil(pulse: Pulse, nowMs: number, inMs: number): Pulse {
  const floorAtMs = nowMs + inMs;
  return { ...pulse, floorAtMs, waitsFromMs: Math.max(nowMs, floorAtMs - LEAD_MS) };
}

/** After the first line of a connection. @param beats whether it was asked for a pulse. @param tookMs since it was opened */
export function pulseOfNew(pulse: Pulse, beats: boolean, tookMs: number): Pulse {
  // A connection that should beat, answered once and fell silent, and now the next one: the relay lives and has no pulse.
  const mute = pulse.beats && pulse.lines === 1 ? pulse.mute + 1 : pulse.mute;
  return { ...pulse, beats, lines: 1, mute, answerMs: Math.max(pulse.answerMs, tookMs) };
}

/** After a further line. @param gapMs since the last one */
export function pulseOfNext(pulse: Pulse, gapMs: number): Pulse {
  if (!pulse.beats) return { ...pulse, lines: pulse.lines + 1 };
  return { ...pulse, lines: pulse.lines + 1, mute: 0, beatMs: Math.max(pulse.beatMs, gapMs) };
}

/** Whether a connection opened now is asked for a pulse. */
export function waitsForWord(asking: Asking, nowMs: number): boolean {
  return asking.pulse.waitsFromMs >= 0 && nowMs >= asking.pulse.waitsFromMs;
}

/** The drain goes on beyond its delay for nothing but this word. */
export function isReliedOn(asking: Asking): boolean {
  return asking.pulse.waitsFromMs >= 0 && asking.offered === "in";
}

/** When a word that is relied on is checked by asking again. */
export function doubtAtMs(asking: Asking): number {
  return Math.max(asking.pulse.waitsFromMs, asking.heardAtMs + patienceMs(asking.pulse));
}

/** When it counts no more. Before the delay is over nothing depends on it. */
export function staleAtMs(asking: Asking): number {
  const { pulse } = asking;
  return Math.max(pulse.floorAtMs, asking.heardAtMs + patienceMs(pulse) + answerMs(pulse));
}

/** How long a connection may take to answer, by what the ones before took. */
export function answerMs(pulse: Pulse): number {
  const leastMs = pulse.mute > 0 ? MUTE_ANSWER_MS : SECOND_OPINION_MS;
  return Math.min(LONGEST_MS, Math.max(leastMs, ANSWER_MARGIN * pulse.answerMs));
}

function patienceMs(pulse: Pulse): number {
  const beatMs = Math.max(PATIENCE_MS, BEAT_MARGIN * pulse.beatMs);
  return Math.min(LONGEST_MS, beatMs * 2 ** Math.min(pulse.mute, 4));
}
