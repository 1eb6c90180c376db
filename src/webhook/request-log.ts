/** The log: one JSON line per request with a constant sentence. Never a whole Pod: its environment may hold secrets. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { Verdict } from "./admit.ts";
import type { LogLevel } from "./settings.ts";

export type Log = Logger;

export function createLog(level: LogLevel, destination: DestinationStream): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

export const REQUEST_SENTENCE = "admission answered";

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
