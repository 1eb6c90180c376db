/** Reads when an Event last happened, without trust in its clock: everyone who can create Events can date them. Pure. */
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

/** Nodes' clocks differ by seconds; a clock that is further ahead is broken, or the time is forged. */
const CLOCK_SKEW_MS = 120_000;

/**
 * @param readMs the time of the reading, which no result exceeds
 * @returns `undefined` for an Event without a usable time
 */
export function lastTimeOf(event: RawObject, readMs: number): number | undefined {
  const claimedMs =
    timeAt(objectAt(event, "series"), "lastObservedTime") ??
    timeAt(event, "lastTimestamp") ??
    timeAt(event, "firstTimestamp") ??
    timeAt(event, "eventTime");
  if (claimedMs === undefined || claimedMs <= readMs) return claimedMs;
  if (claimedMs - readMs <= CLOCK_SKEW_MS) return readMs;
  // The time of the reading would move with every list, and the Event would never age. This one is the API server's.
  const createdMs = timeAt(objectAt(event, "metadata"), "creationTimestamp");
  return createdMs === undefined ? undefined : Math.min(createdMs, readMs);
}

function timeAt(object: RawObject | undefined, key: string): number | undefined {
  const ms = Date.parse(textAt(object, key) ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
