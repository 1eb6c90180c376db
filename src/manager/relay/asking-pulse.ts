/** How closely a relay is listened to that a drain waits for. Pure. */
import { RELAY_PULSE_MS } from "../../contract/relay-wire.ts";
import type { Asking, Pulse } from "./asking-state.ts";

/** When the delay is over it must be known whether the relay is still there: time for a handshake on a throttled CPU. */
const LEAD_MS = 1_500;
/** A missed pulse. */
const PATIENCE_MS = RELAY_PULSE_MS + 100;
/** From a missed pulse on another connection has this long to answer. */
const SECOND_OPINION_MS = 200;
/** For a relay that knows no pulse and is asked anew instead. */
const LONGEST_PATIENCE_MS = 2_000;

export function beginPulse(): Pulse {
  return { waitsFromMs: -1, floorAtMs: -1, patienceMs: PATIENCE_MS, lines: 0 };
}

/** The drain has begun, and its delay is over in so many milliseconds. */
export function pulseUntil(pulse: Pulse, nowMs: number, inMs: number): Pulse {
  const floorAtMs = nowMs + inMs;
  return { ...pulse, floorAtMs, waitsFromMs: Math.max(nowMs, floorAtMs - LEAD_MS) };
}

/** After a line; `isNew`: the first one of its connection. */
export function pulseOf(pulse: Pulse, isNew: boolean): Pulse {
  if (!isNew) return { ...pulse, patienceMs: PATIENCE_MS, lines: pulse.lines + 1 };
  // A connection that answered once and then fell silent twice over: the relay lives and has no pulse.
  const mute = pulse.waitsFromMs >= 0 && pulse.lines === 1;
  const patienceMs = mute ? Math.min(LONGEST_PATIENCE_MS, pulse.patienceMs * 2) : pulse.patienceMs;
  return { ...pulse, patienceMs, lines: 1 };
}

/** The drain goes on beyond its delay for nothing but this word. */
export function isReliedOn(asking: Asking): boolean {
  return asking.pulse.waitsFromMs >= 0 && asking.offered === "in";
}

/** When a word that is relied on is checked by asking again. */
export function doubtAtMs(asking: Asking): number {
  return Math.max(asking.pulse.waitsFromMs, asking.heardAtMs + asking.pulse.patienceMs);
}

/** When it counts no more. Before the delay is over nothing depends on it. */
export function staleAtMs(asking: Asking): number {
  return Math.max(asking.pulse.floorAtMs, asking.heardAtMs + asking.pulse.patienceMs + SECOND_OPINION_MS);
}

export function waitsForWord(asking: Asking, nowMs: number): boolean {
  return asking.pulse.waitsFromMs >= 0 && nowMs >= asking.pulse.waitsFromMs;
}
