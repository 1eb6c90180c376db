/** The log: one JSON line per request with a constant sentence. Never a whole Pod: its environment may hold secrets. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { Verdict } from "./admit.ts";
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

const REQUEST_SENTENCE = "admission answered";

/** `ms` is milliseconds from the complete body to the finished answer. */
export function logVerdict(log: Log, verdict: Verdict, ms: number): void {
  const { entry } = verdict;
  const line = {
    uid: verdict.uid,
    namespace: verdict.namespace,
    pod: verdict.pod,
    outcome: entry.outcome,
    reason: entry.reason,
    mode: entry.mode,
    dryRun: entry.dryRun,
    problems: verdict.problems,
    status: verdict.status,
    ms: Math.round(ms * 1000) / 1000,
  };
  if (entry.outcome === "fault") log.error({ ...line, err: verdict.fault }, REQUEST_SENTENCE);
  else if (verdict.status === 200) log.info(line, REQUEST_SENTENCE);
  else log.warn({ ...line, why: verdict.body.trimEnd() }, REQUEST_SENTENCE);
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
