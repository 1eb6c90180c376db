/** Writes JSON log lines with constant messages. Never log a whole Pod: its environment may contain secrets. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./settings.ts";

export type Log = Logger;

export function createLog(level: LogLevel, destination: DestinationStream): Log {
  return pino({ level, base: null, timestamp: isoTimestamp(), serializers: { err: serializedError } }, destination);
}

/** Errors of the worker thread are already serialized; serializing them again would lose their type. */
function serializedError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

/** Formats each second once, to save time. pino expects the text of a complete JSON member. */
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

type LogLines = DestinationStream & {
  readonly flushSync: () => void;
};

const COLLECTED_CHARACTERS = 15_000;
const COLLECTED_MS = 200;
const BACKLOG_BYTES = 1_048_576;

/**
 * Collects lines, because a write per line takes longer than formatting the line. Writes are asynchronous, so a slow log reader
 * never delays an admission. The batches are large because pino's destination measures its whole backlog with each write.
 */
export function logLines(): LogLines {
  const writer = pino.destination({ dest: 1, sync: false, maxLength: BACKLOG_BYTES });
  let collected = "";
  const writeCollected = (): void => {
    if (collected === "") return;
    writer.write(collected);
    collected = "";
  };
  setInterval(writeCollected, COLLECTED_MS).unref();
  return {
    write: (line) => {
      collected += line;
      if (collected.length >= COLLECTED_CHARACTERS) writeCollected();
    },
    flushSync: () => {
      writeCollected();
      writer.flushSync();
    },
  };
}
