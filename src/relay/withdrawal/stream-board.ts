/** Keeps all open streams: repeats last lines, and ends streams that are old or stalled, by one timer per interval. */
import { RELAY_HEARTBEAT_MS, RELAY_PULSE_MS, RELAY_STREAM_LIMIT_MS } from "../../contract/relay-wire.ts";
import { type Clock, createTicker } from "../slices/clock.ts";

/** Kernels buffer some 100 KB for a client that reads nothing, so after this it is gone. */
const STALL_MS = 20_000;
const LOOK_MS = 1_000;

/** Spreads the pulses over their period; subtracted from it, so that a late tick delays no pulse. */
const PULSE_LOOK_MS = 20;
const PULSE_MS = RELAY_PULSE_MS - PULSE_LOOK_MS;

type OpenStream = { readonly say: (text: string) => void; readonly closed: () => void };
export type StreamBoard = {
  readonly open: (sink: LineSink, pulses: boolean) => OpenStream;
  readonly endAll: () => void;
};

export function createStreamBoard(clock: Clock): StreamBoard {
  const group = (repeatMs: number, lookMs: number) => {
    const streams = new Set<LineStream>();
    const ticker = createTicker(clock, lookMs, () => {
      const nowMs = clock.nowMs();
      for (const stream of streams) stream.look(nowMs);
    });
    const open = (sink: LineSink): OpenStream => {
      const stream = lineStream(sink, { repeatMs, stallMs: STALL_MS, lifeMs: RELAY_STREAM_LIMIT_MS }, clock.nowMs());
      streams.add(stream);
      ticker.start();
      const closed = (): void => {
        streams.delete(stream);
        if (streams.size === 0) ticker.stop();
      };
      return { say: (text) => stream.say(text, clock.nowMs()), closed };
    };
    return { streams, open };
  };
  const resting = group(RELAY_HEARTBEAT_MS, LOOK_MS);
  const pulsing = group(PULSE_MS, PULSE_LOOK_MS);
  return {
    open: (sink, pulses) => (pulses ? pulsing : resting).open(sink),
    endAll: () => {
      for (const { streams } of [resting, pulsing]) for (const stream of streams) stream.end();
    },
  };
}

type LineSink = {
  /** `taken` is called, with the time, when the bytes have left the process. */
  readonly write: (text: string, taken: (nowMs: number) => void) => void;
  readonly end: () => void;
  /** Drops the connection. */
  readonly cut: () => void;
};

type StreamLimits = { readonly repeatMs: number; readonly stallMs: number; readonly lifeMs: number };

export type LineStream = {
  readonly say: (text: string, nowMs: number) => void;
  /** Repeats, cuts or ends when it is due. */
  readonly look: (nowMs: number) => void;
  readonly end: () => void;
};

/** To a slow reader at most one line is under way and one waits; a newer line replaces the waiting one. */
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
