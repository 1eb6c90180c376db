/** One Pod's end, gathered for the story: what happened to it, and what its manager told of it. */
import { MANAGER_CONTAINER } from "../contract/manager-environment.ts";
import type { PodEvent, RunningPod } from "./pods/running-pod.ts";
import { type DrainSummary, drainSummary, triggeredMs } from "./story/drain-lines.ts";
import type { PodEnd } from "./story/timeline.ts";

export type EndedPod = PodEnd & {
  /** From the deletion to the first stop signal of a regular container; the whole end when none was signalled. */
  readonly drainSeconds: number;
};

/** What the Pod itself does not know. */
type Surroundings = Pick<PodEnd, "forwarded" | "propagationMs" | "slicesWithdrawnMs">;

/** What the manager reports long after the release is about its own end, as with an app that ignores its signal. */
const REPORT_SLACK_MS = 2_000;

export function endOf(pod: RunningPod, surroundings: Surroundings): EndedPod {
  const fromMs = deletedMs(pod);
  const regular = pod.plan.containers.filter((container) => container.role === "regular").map(({ name }) => name);
  const signalled = pod.events.find((event) => event.what === "SIGTERM" && regular.includes(event.container));
  const releasedMs = signalled?.atMs ?? pod.events.at(-1)?.atMs ?? fromMs;
  const told = pod.events.filter((event) => isOfManager(event) && event.atMs <= releasedMs + REPORT_SLACK_MS);
  return {
    ...surroundings,
    pod: pod.plan.name,
    address: pod.address,
    deletedMs: fromMs,
    triggeredMs: triggeredMs(told.filter((event) => event.atMs >= fromMs)) ?? fromMs,
    events: pod.events,
    summary: summaryOf(told),
    drainSeconds: Math.round((releasedMs - fromMs) / 10) / 100,
  };
}

export function deletedMs(pod: Pick<RunningPod, "events">): number {
  return pod.events.find((event) => event.what === "deleted")?.atMs ?? 0;
}

function isOfManager(event: PodEvent): boolean {
  return event.what === "line" && event.container === MANAGER_CONTAINER;
}

function summaryOf(told: readonly PodEvent[]): DrainSummary | undefined {
  return drainSummary(told.map((event) => event.detail));
}
