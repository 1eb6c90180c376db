/** Classifies the end of a drain from the state when the manager responds to the app's hook. Pure. */
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

/** Node's callbacks record traffic later than the kernel. */
const RECORDING_DELAY_MS = 250;

export function classifyEnding(release: DrainEndState): Ending {
  if (release.outcome === "timeout") return "deadline";
  if (release.outcome !== "drained")
    throw new Error(`a drain of a scenario ended as ${release.outcome}, expected drained or timeout`);
  if (release.criterion === "connections") return release.openConnections === 0 ? "closed" : "cut";
  // Without an open connection the app's stop can close none too early, and a drain does not wait for an app that no longer listens.
  if (release.leftTotal === 0) return "quiet";
  if (release.activeRequests > 0) return "cut";
  return release.sinceTrafficMs < release.quietPeriodMs - RECORDING_DELAY_MS ? "cut" : "quiet";
}
