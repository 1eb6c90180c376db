/** Classifies the end of a drain from the state when the manager responds to the app's hook. Pure. */
import type { Criterion, Ending } from "./protocol-scenario.ts";

export type Release = {
  readonly criterion: Criterion;
  readonly outcome: string;
  /** Number of open connections in the manager's report. */
  readonly leftTotal: number;
  readonly activeRequests: number;
  readonly openConnections: number;
  /** Time from the last byte in either direction to the response to the app's hook. */
  readonly sinceTrafficMs: number;
  readonly quietPeriodMs: number;
};

/** Node's callbacks record traffic later than the kernel. */
const RECORDING_DELAY_MS = 250;

export function classifyEnding(release: Release): Ending {
  if (release.outcome === "timeout") return "deadline";
  if (release.outcome !== "drained")
    throw new Error(`a drain of a scenario ended as ${release.outcome}, expected drained or timeout`);
  if (release.criterion === "connections") return release.openConnections === 0 ? "closed" : "cut";
  // Without open connections the app's stop cannot cut one, and a drain does not wait for an app that has closed its port.
  if (release.leftTotal === 0) return "quiet";
  if (release.activeRequests > 0) return "cut";
  return release.sinceTrafficMs < release.quietPeriodMs - RECORDING_DELAY_MS ? "cut" : "quiet";
}
