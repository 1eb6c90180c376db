/** All open streams, looked at by one timer each for those that rest and those that pulse; none while none is open. */
import { RELAY_HEARTBEAT_MS, RELAY_PULSE_MS, RELAY_STREAM_LIMIT_MS } from "../../contract/relay-wire.ts";
import type { Clock } from "../slices/clock.ts";

/** Kernels take some 100 KB for a reader that takes nothing, so this means that the reader is gone. */
const STALL_MS = 20_000;
const LOOK_MS = 1_000;

/** Spreads the pulses over their period; a look that comes a little late is not to make one late. */
const PULSE_LOOK_MS = 20;
const PULSE_MS = RELAY_PULSE_MS - PULSE_LOOK_MS;

type OpenStream = {
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

/**
 * One stream of lines to a reader who may be slow: at most one line is under way and one waits, the newest; what it
 * superseded is never sent. Time is an argument.
 */
type LineSink = {
  /** `taken` is called when the bytes have left the process, with that time. */
  readonly write: (text: string, taken: (nowMs: number) => void) => void;
  /** Ends the answer properly. */
  readonly end: () => void;
  /** Drops the connection. */
  readonly cut: () => void;
};

type StreamLimits = {
  /** The last line is repeated after this. */
  readonly repeatMs: number;
  /** A reader who takes nothing for so long is cut. */
  readonly stallMs: number;
  readonly lifeMs: number;
};

export type LineStream = {
  readonly say: (text: string, nowMs: number) => void;
  /** Repeats, cuts or ends where it is time to. */
  readonly look: (nowMs: number) => void;
  readonly end: () => void;
};

export function lineStream(sink: LineSink, limits: StreamLimits, startMs: number): LineStream {
  let last = "";
  let hasNews = false;
  let sentMs = startMs;
  let isTaking = false;
  let isOver = false;

  const send = (nowMs: number): void => {
    hasNews = false;
    isTaking = true;
    sentMs = nowMs;
    sink.write(last, (takenMs) => {
      isTaking = false;
      if (hasNews && !isOver) send(takenMs);
    });
  };

  const finish = (how: () => void): void => {
    if (isOver) return;
    isOver = true;
    how();
  };

  return {
    say: (text, nowMs) => {
      if (isOver) return;
      last = text;
      hasNews = true;
      if (!isTaking) send(nowMs);
    },
    look: (nowMs) => {
      if (isOver) return;
      if (isTaking && nowMs - sentMs >= limits.stallMs) finish(sink.cut);
      else if (nowMs - startMs >= limits.lifeMs) finish(sink.end);
      else if (!isTaking && last !== "" && nowMs - sentMs >= limits.repeatMs) send(nowMs);
    },
    end: () => finish(sink.end),
  };
}
