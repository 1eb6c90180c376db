/** Repeats the last line of every open stream and ends old or stalled streams, by one timer per interval. */
import { RELAY_HEARTBEAT_MS, RELAY_KEEPALIVE_MS, RELAY_STREAM_LIMIT_MS } from "../../contract/relay-wire.ts";
import { type Clock, createTicker } from "../slices/clock.ts";

/** The kernel buffers about 100 KB, so a client that has not read a line after this time has stalled. */
const STALL_MS = 20_000;
const CHECK_MS = 1_000;

/** Short, to spread heartbeats over their interval. Subtracted from that interval, so that a heartbeat is not late by one check. */
const HEARTBEAT_CHECK_MS = 20;
const HEARTBEAT_MS = RELAY_HEARTBEAT_MS - HEARTBEAT_CHECK_MS;

type StreamHandle = { readonly send: (text: string) => void; readonly remove: () => void };
export type StreamSet = {
  readonly open: (sink: LineSink, hasHeartbeat: boolean) => StreamHandle;
  readonly endAll: () => void;
};

export function createStreamSet(clock: Clock): StreamSet {
  const createGroup = (repeatMs: number, checkMs: number) => {
    const streams = new Set<LineStream>();
    const ticker = createTicker(clock, checkMs, () => {
      const nowMs = clock.nowMs();
      for (const stream of streams) stream.check(nowMs);
    });
    const open = (sink: LineSink): StreamHandle => {
      const stream = createLineStream(
        sink,
        { repeatMs, stallMs: STALL_MS, lifeMs: RELAY_STREAM_LIMIT_MS },
        clock.nowMs(),
      );
      streams.add(stream);
      ticker.start();
      const remove = (): void => {
        streams.delete(stream);
        if (streams.size === 0) ticker.stop();
      };
      return { send: (text) => stream.send(text, clock.nowMs()), remove };
    };
    return { streams, open };
  };
  const keepalives = createGroup(RELAY_KEEPALIVE_MS, CHECK_MS);
  const heartbeats = createGroup(HEARTBEAT_MS, HEARTBEAT_CHECK_MS);
  return {
    open: (sink, hasHeartbeat) => (hasHeartbeat ? heartbeats : keepalives).open(sink),
    endAll: () => {
      for (const { streams } of [keepalives, heartbeats]) for (const stream of streams) stream.end();
    },
  };
}

type LineSink = {
  readonly write: (text: string, onWritten: (nowMs: number) => void) => void;
  readonly end: () => void;
  readonly destroy: () => void;
};

type StreamLimits = { readonly repeatMs: number; readonly stallMs: number; readonly lifeMs: number };

export type LineStream = {
  readonly send: (text: string, nowMs: number) => void;
  readonly check: (nowMs: number) => void;
  readonly end: () => void;
};

/** At most one line is being written and one waits for a slow client; a newer line replaces the waiting one. */
export function createLineStream(sink: LineSink, limits: StreamLimits, startMs: number): LineStream {
  let lastText = "";
  let hasPendingLine = false;
  let sentMs = startMs;
  let isWriting = false;
  let hasEnded = false;

  const write = (nowMs: number): void => {
    hasPendingLine = false;
    isWriting = true;
    sentMs = nowMs;
    sink.write(lastText, (writtenMs) => {
      isWriting = false;
      if (hasPendingLine && !hasEnded) write(writtenMs);
    });
  };

  const finish = (endSink: () => void): void => {
    if (hasEnded) return;
    hasEnded = true;
    endSink();
  };

  return {
    send: (text, nowMs) => {
      if (hasEnded) return;
      lastText = text;
      hasPendingLine = true;
      if (!isWriting) write(nowMs);
    },
    check: (nowMs) => {
      if (hasEnded) return;
      if (isWriting && nowMs - sentMs >= limits.stallMs) finish(sink.destroy);
      else if (nowMs - startMs >= limits.lifeMs) finish(sink.end);
      else if (!isWriting && lastText !== "" && nowMs - sentMs >= limits.repeatMs) write(nowMs);
    },
    end: () => finish(sink.end),
  };
}
