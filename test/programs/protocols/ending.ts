/** Names what a drain did, from what was seen at the moment of its release. Pure. */
import type { Criterion, Ending } from "./scene.ts";

export type Release = {
  readonly criterion: Criterion;
  /** Of the manager's report, like the connections it saw last. */
  readonly outcome: string;
  readonly left: number;
  /** Of the server's own books. */
  readonly openWork: number;
  readonly openConnections: number;
  /** From the last byte either way until the release. */
  readonly sinceTrafficMs: number;
  readonly quietPeriodMs: number;
};

/** The server's books are kept in JavaScript, which hears of bytes later than the kernel does. */
const BOOKS_LATE_MS = 250;

export function endingOf(release: Release): Ending {
  if (release.outcome === "timeout") return "deadline";
  if (release.outcome !== "drained") throw new Error(`a drain of a scene ended as ${release.outcome}`);
  if (release.criterion === "connections") return release.openConnections === 0 ? "closed" : "cut";
  // No one is connected: nothing can be cut, and an app that has closed its port as well is not waited for.
  if (release.left === 0) return "quiet";
  if (release.openWork > 0) return "cut";
  return release.sinceTrafficMs < release.quietPeriodMs - BOOKS_LATE_MS ? "cut" : "quiet";
}
