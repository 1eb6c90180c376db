/** All open streams, looked at by one timer each for those that rest and those that pulse; none while none is open. */
import { RELAY_HEARTBEAT_MS, RELAY_PULSE_MS, RELAY_STREAM_LIMIT_MS } from "../../contract/relay-wire.ts";
import type { Clock } from "../slices/clock.ts";
import { type LineSink, type LineStream, lineStream } from "./line-stream.ts";

/** Kernels take some 100 KB for a reader that takes nothing, so this means that the reader is gone. */
const STALL_MS = 20_000;
const LOOK_MS = 1_000;

/** Spreads the pulses over their period; a look that comes a little late is not to make one late. */
const PULSE_LOOK_MS = 20;
const PULSE_MS = RELAY_PULSE_MS - PULSE_LOOK_MS;

export type OpenStream = {
  readonly say: (text: string) => void;
  /** The connection is gone: nothing is looked after any more. */
  readonly closed: () => void;
};

export type StreamBoard = {
  readonly open: (sink: LineSink, pulses: boolean) => OpenStream;
  readonly endAll: () => void;
};

type Group = { readonly streams: Set<LineStream>; readonly lookMs: number; endLooks: (() => void) | undefined };

export function createStreamBoard(clock: Clock): StreamBoard {
  const resting: Group = { streams: new Set(), lookMs: LOOK_MS, endLooks: undefined };
  const pulsing: Group = { streams: new Set(), lookMs: PULSE_LOOK_MS, endLooks: undefined };

  const add = (group: Group, stream: LineStream): void => {
    group.streams.add(stream);
    group.endLooks ??= clock.every(group.lookMs, () => {
      const nowMs = clock.nowMs();
      for (const each of group.streams) each.look(nowMs);
    });
  };

  const remove = (group: Group, stream: LineStream): void => {
    group.streams.delete(stream);
    if (group.streams.size > 0) return;
    group.endLooks?.();
    group.endLooks = undefined;
  };

  return {
    open: (sink, pulses) => {
      const group = pulses ? pulsing : resting;
      const repeatMs = pulses ? PULSE_MS : RELAY_HEARTBEAT_MS;
      const limits = { repeatMs, stallMs: STALL_MS, lifeMs: RELAY_STREAM_LIMIT_MS };
      const stream = lineStream(sink, limits, clock.nowMs());
      add(group, stream);
      return { say: (text) => stream.say(text, clock.nowMs()), closed: () => remove(group, stream) };
    },
    endAll: () => {
      for (const group of [resting, pulsing]) for (const stream of group.streams) stream.end();
    },
  };
}
