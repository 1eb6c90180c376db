/** Writes JSON log lines with constant messages. Never log a whole Pod: its environment may contain secrets. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./settings.ts";

export type Log = Logger;

export function createLog(level: LogLevel, destination: DestinationStream): Log {
  return pino(
    { level, base: null, timestamp: createTimestampFormatter(), serializers: { err: serializedError } },
    destination,
  );
}

/** Errors of the worker thread are already serialized; serializing them again would lose their type. */
function serializedError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

/** Formats the date and time once per second, to save CPU time. pino expects the text of a complete JSON member. */
function createTimestampFormatter(): () => string {
  let second = -1;
  let prefix = "";
  return () => {
    const nowMs = Date.now();
    const currentSecond = Math.floor(nowMs / 1000);
    if (currentSecond !== second) {
      second = currentSecond;
      prefix = `,"time":"${new Date(currentSecond * 1000).toISOString().slice(0, -4)}`;
    }
    return `${prefix}${String(nowMs % 1000).padStart(3, "0")}Z"`;
  };
}

type LogWriter = DestinationStream & {
  readonly flushSync: () => void;
};

const BATCH_CHARACTERS = 15_000;
const BATCH_INTERVAL_MS = 200;
const BACKLOG_LIMIT_BYTES = 1_048_576;

/**
 * Collects lines, because a write per line takes longer than formatting the line. Writes are asynchronous, so a slow log reader
 * never delays an admission. The batches are large because pino's destination measures its whole backlog with each write.
 */
export function logWriter(): LogWriter {
  const destination = pino.destination({ dest: 1, sync: false, maxLength: BACKLOG_LIMIT_BYTES });
  let batch = "";
  const writeBatch = (): void => {
    if (batch === "") return;
    destination.write(batch);
    batch = "";
  };
  setInterval(writeBatch, BATCH_INTERVAL_MS).unref();
  return {
    write: (line) => {
      batch += line;
      if (batch.length >= BATCH_CHARACTERS) writeBatch();
    },
    flushSync: () => {
      writeBatch();
      destination.flushSync();
    },
  };
}
