/** Classifies the end of a drain by the state at the manager's response to the app's hook. Pure. */
import type { Criterion, Ending } from "./protocol-scenario.ts";

export type DrainEndState = {
  readonly criterion: Criterion;
  readonly outcome: string;
  /** Number of connections that were open at the end of the drain, from the manager's report. */
  readonly leftTotal: number;
  readonly activeRequests: number;
  readonly openConnections: number;
  /** Time from the last byte in either direction to the response to the app's hook. */
  readonly sinceTrafficMs: number;
  readonly quietPeriodMs: number;
};

/** Maximum time from an event in the kernel to the Node callback that records it. */
const RECORDING_DELAY_MS = 250;

export function classifyEnding(end: DrainEndState): Ending {
  if (end.outcome === "timeout") return "deadline";
  if (end.outcome !== "drained")
    throw new Error(`a drain of a scenario ended as ${end.outcome}, expected drained or timeout`);
  if (end.criterion === "connections") return end.openConnections === 0 ? "closed" : "cut";
  // If no connection is open, the app's stop cannot interrupt a request.
  if (end.leftTotal === 0) return "quiet";
  if (end.activeRequests > 0) return "cut";
  return end.sinceTrafficMs < end.quietPeriodMs - RECORDING_DELAY_MS ? "cut" : "quiet";
}
