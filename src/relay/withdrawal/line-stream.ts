/**
 * One stream of lines to a reader who may be slow: at most one line is under way and one waits, the newest; what it
 * superseded is never sent. Time is an argument.
 */

export type LineSink = {
  /** `taken` is called when the bytes have left the process, with that time. */
  readonly write: (text: string, taken: (nowMs: number) => void) => void;
  /** Ends the answer properly. */
  readonly end: () => void;
  /** Drops the connection. */
  readonly cut: () => void;
};

export type StreamLimits = {
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
