/** The log: JSON lines with constant sentences, written off the event loop. Never a whole Pod: its environment may hold secrets. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./settings.ts";

export type Log = Logger;

export function createLog(level: LogLevel, destination: DestinationStream): Log {
  return pino({ level, base: null, timestamp: isoTimestamp(), serializers: { err: shownError } }, destination);
}

/** What came from another thread is plain already; taken for an error again it would be of type Object. */
function shownError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

/** Formats the second once and not per line; pino wants the text of a whole JSON member. */
function isoTimestamp(): () => string {
  let second = -1;
  let prefix = "";
  return () => {
    const nowMs = Date.now();
    const current = Math.floor(nowMs / 1000);
    if (current !== second) {
      second = current;
      prefix = `,"time":"${new Date(current * 1000).toISOString().slice(0, -4)}`;
    }
    return `${prefix}${String(nowMs % 1000).padStart(3, "0")}Z"`;
  };
}

/** Log lines are collected here, and written off the event loop. */
type LogLines = DestinationStream & {
  /** Everything gathered so far is written when it returns. */
  readonly flushSync: () => void;
};

const GATHERED_CHARACTERS = 15_000;
const GATHERED_MS = 200;
/** Beyond this backlog, in bytes, lines are dropped. */
const BACKLOG_BYTES = 1_048_576;

/**
 * A log reader that is slow must never hold up an admission, and one write per line costs more than the line. The
 * writer gets large texts because it measures all it holds with each one it is given.
 */
export function logLines(): LogLines {
  const writer = pino.destination({ dest: 1, sync: false, maxLength: BACKLOG_BYTES });
  let gathered = "";
  const handOver = (): void => {
    if (gathered === "") return;
    writer.write(gathered);
    gathered = "";
  };
  setInterval(handOver, GATHERED_MS).unref();
  return {
    write: (line) => {
      gathered += line;
      if (gathered.length >= GATHERED_CHARACTERS) handOver();
    },
    flushSync: () => {
      handOver();
      writer.flushSync();
    },
  };
}
