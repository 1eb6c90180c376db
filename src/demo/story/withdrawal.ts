/** The endpoint withdrawal as one Pod's manager learned it. Pure. */
import type { PodEnd } from "./pod-end.ts";

/** Milliseconds since the deletion; `undefined` when the manager never knew its Pod out of rotation. */
export function learnedAfterMs(end: PodEnd): number | undefined {
  const afterMs = end.summary?.withdrawnAfterMs ?? -1;
  return afterMs < 0 ? undefined : end.triggeredMs - end.deletedMs + afterMs;
}

/** One sentence with times since the deletion, or nothing where there are no EndpointSlices. */
export function withdrawalWords(end: PodEnd): string {
  const { summary, slicesWithdrawnMs } = end;
  if (summary === undefined || slicesWithdrawnMs === undefined) return "";
  const outMs = slicesWithdrawnMs - end.deletedMs;
  const out = `EndpointSlices withdrew it after ${seconds(outMs)}`;
  const learnedMs = learnedAfterMs(end);
  if (learnedMs === undefined)
    return `${out}; its manager did not learn that: ${WHY.get(summary.relay) ?? withoutState(summary.relay)}.`;
  const startMs = end.triggeredMs - end.deletedMs;
  // No manager asks before a hook was called.
  const late = startMs > outMs ? `, ${sinceStart(learnedMs - startMs)}` : "";
  return `${out}; its manager learned that after ${seconds(learnedMs)}${late}.`;
}

function sinceStart(ms: number): string {
  return ms < 10 ? "as soon as its drain began" : `${seconds(ms)} after its drain had begun`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
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
