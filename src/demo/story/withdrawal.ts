/** The endpoint withdrawal as one Pod's manager learned it. Pure. */
import type { PodEnd } from "./timeline.ts";

/** Milliseconds since the deletion; `undefined` when the manager never knew its Pod out of rotation. */
export function learnedAfterMs(end: PodEnd): number | undefined {
  const afterMs = end.summary?.withdrawnAfterMs ?? -1;
  return afterMs < 0 ? undefined : end.triggeredMs - end.deletedMs + afterMs;
}

/** One sentence, or nothing where nobody keeps EndpointSlices. */
export function withdrawalWords(end: PodEnd): string {
  const { summary, slicesWithdrawnMs } = end;
  if (summary === undefined || slicesWithdrawnMs === undefined) return "";
  const afterMs = slicesWithdrawnMs - end.deletedMs;
  const out = `EndpointSlices withdrew it after ${(afterMs / 1_000).toFixed(2)} s`;
  const learned = learnedAfterMs(end);
  // What a process prints is heard a little later than it was meant.
  if (learned !== undefined)
    return `${out}; its manager learned that within ${Math.max(1, Math.round(learned - afterMs))} ms.`;
  return `${out}; its manager did not learn that: ${WHY.get(summary.relay) ?? withoutState(summary.relay)}.`;
}

const WHY: ReadonlyMap<string, string> = new Map([
  ["", "it told nothing of the relay"],
  ["none", "it did not ask the relay"],
  ["offered", "the deadline came first"],
  ["still_in_rotation", "the slices it saw never said that the Pod ends"],
]);

function withoutState(relay: string): string {
  return relay.replace(/^unknown: */, "").replace(/\.$/, "");
}
