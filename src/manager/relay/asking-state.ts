/** What the relay's client remembers while it asks, what it hears and what it does. Times are monotonic; -1 is never. */
import { RELAY_HEARTBEAT_MS } from "../../contract/relay-wire.ts";
import type { Offered } from "../drain/drain-state.ts";

/** A relay that lives repeats itself; one that has missed three times is gone, whatever its connection says. */
export const SILENCE_LIMIT_MS = 3 * RELAY_HEARTBEAT_MS;

export type Asking = {
  /** The connection that spoke last; 0 for none. */
  readonly current: number;
  /** A connection that is tried and has not spoken; 0 for none. */
  readonly candidate: number;
  readonly lastId: number;
  /** The candidate was asked for a pulse. */
  readonly candidateBeats: boolean;
  readonly dialledAtMs: number;
  readonly heardAtMs: number;
  readonly offered: Offered;
  /** When to connect again. */
  readonly dialAtMs: number;
  /** In a row. */
  readonly failures: number;
  /** Since when no connection speaks. */
  readonly silentFromMs: number;
  readonly reason: string;
  /** The manager knows that the last word counts no more. */
  readonly lost: boolean;
  readonly over: boolean;
  readonly pulse: Pulse;
};

/** How often a drain that waits may expect to hear something. */
export type Pulse = {
  /** From here on a drain may wait for the word alone. */
  readonly waitsFromMs: number;
  readonly floorAtMs: number;
  /** The connection that speaks was asked for a pulse. */
  readonly beats: boolean;
  /** Lines of the connection that speaks. */
  readonly lines: number;
  /** The longest time between two beats, and that to a first line, in this drain. */
  readonly beatMs: number;
  readonly answerMs: number;
  /** How often in a row a connection answered and then did not beat. */
  readonly mute: number;
};

export type AskingEvent =
  /** `lateMs`: by how much the timer missed its moment. */
  | { readonly kind: "tick"; readonly nowMs: number; readonly lateMs: number }
  | { readonly kind: "spoke"; readonly nowMs: number; readonly id: number; readonly offered: Offered }
  | { readonly kind: "broke"; readonly nowMs: number; readonly id: number; readonly reason: string }
  | { readonly kind: "floor"; readonly nowMs: number; readonly inMs: number }
  | { readonly kind: "rest"; readonly nowMs: number };

export type AskingAction =
  /** `pulse`: ask for a line every so often. */
  | { readonly kind: "dial"; readonly id: number; readonly pulse: boolean }
  | { readonly kind: "drop"; readonly id: number }
  | { readonly kind: "lost"; readonly reason: string };

export type AskingStep = {
  readonly asking: Asking;
  readonly actions: readonly AskingAction[];
  /** When the next tick is wanted. */
  readonly wakeAtMs: number;
};
