/** One Pod's end: its events, and its manager's report. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import type { Tally } from "../load/request-tally.ts";
import type { Forwarded } from "../network/service-proxy.ts";
import type { PodEvent, RunningPod } from "../pods/running-pod.ts";
import { type DrainSummary, drainSummary, triggeredMs } from "./drain-lines.ts";

export type PodEnd = {
  readonly pod: string;
  readonly address: string;
  readonly deletedMs: number;
  /** When its manager took the end as certain; the deletion where nothing is known of it. */
  readonly triggeredMs: number;
  readonly events: readonly PodEvent[];
  readonly forwarded: readonly Forwarded[];
  readonly summary: DrainSummary | undefined;
  readonly propagationMs: number;
  /** When EndpointSlices stopped offering it; `undefined` where there are none. */
  readonly slicesWithdrawnMs: number | undefined;
};

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

/** What came of one of the two rolling updates. */
export type VariantResult = { readonly tally: Tally; readonly ended: readonly EndedPod[]; readonly tookMs: number };
