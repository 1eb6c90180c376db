/** Collects the events and the drain report of one Pod's shutdown. Pure. */
import type { DrainReport, OpenConnection, ResetsReport } from "../../contract/drain-report.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { listAt, numberAt, objectAt, parsedJson, textAt } from "../json.ts";
import type { RequestCounts } from "../load/load.ts";
import type { ForwardedConnection } from "../network/service-proxy.ts";
import type { PodEvent, RunningPod } from "../pods/running-pod.ts";

export type VariantResult = {
  readonly counts: RequestCounts;
  readonly endedPods: readonly EndedPod[];
  readonly durationMs: number;
};

export type PodEnd = {
  readonly pod: string;
  readonly address: string;
  readonly deletedMs: number;
  /** Time at which the drain of the Pod's manager started; the time of the deletion if unknown. */
  readonly triggeredMs: number;
  readonly events: readonly PodEvent[];
  readonly forwardedConnections: readonly ForwardedConnection[];
  readonly summary: DrainSummary | undefined;
  readonly propagationMs: number;
  /** Time at which the Pod's endpoint in the EndpointSlice stopped being ready; `undefined` without EndpointSlices. */
  readonly slicesWithdrawnMs: number | undefined;
};

export type EndedPod = PodEnd & {
  /** Time from the deletion to the first stop signal of a regular container, or to the last event if there was none. */
  readonly drainSeconds: number;
};

export type DrainSummary = {
  readonly outcome: string;
  readonly trigger: string;
  readonly milliseconds: DrainReport["milliseconds"];
  readonly left: readonly Pick<OpenConnection, "local" | "peer" | "ageMs">[];
  readonly leftTotal: number;
  readonly evidenceSource: string;
  readonly why: string;
  readonly relay: string;
  /** Time from the trigger to the withdrawal; -1 when the manager was not notified of the withdrawal. */
  readonly withdrawnAfterMs: number;
  /** Unknown if Pods share a network namespace. */
  readonly resets?: ResetsReport | undefined;
};

/** Reports this long after the stop signal are not used: if the app ignores the signal, the manager writes another report then. */
const REPORT_SLACK_MS = 2_000;

export function podEndOf(
  { plan, address, events }: RunningPod,
  observed: Pick<PodEnd, "forwardedConnections" | "propagationMs" | "slicesWithdrawnMs">,
): EndedPod {
  const deletionMs = deletedMs({ events });
  const regularNames = plan.containers.filter((container) => container.role === "regular").map(({ name }) => name);
  const stopSignal = events.find((event) => event.type === "SIGTERM" && regularNames.includes(event.container));
  const releasedMs = stopSignal?.atMs ?? events.at(-1)?.atMs ?? deletionMs;
  const lines = events.filter(
    ({ type, container, atMs }) =>
      type === "line" && container === MANAGER_CONTAINER && atMs <= releasedMs + REPORT_SLACK_MS,
  );
  return {
    ...observed,
    pod: plan.name,
    address,
    deletedMs: deletionMs,
    triggeredMs: triggeredMs(lines.filter((line) => line.atMs >= deletionMs)) ?? deletionMs,
    events,
    summary: lastDrainSummary(lines.map((line) => line.detail)),
    drainSeconds: Math.round((releasedMs - deletionMs) / 10) / 100,
  };
}

export function deletedMs({ events }: Pick<RunningPod, "events">): number {
  return events.find((event) => event.type === "deleted")?.atMs ?? 0;
}

export function notifiedAfterMs(end: PodEnd): number | undefined {
  const afterMs = end.summary?.withdrawnAfterMs ?? -1;
  return afterMs < 0 ? undefined : end.triggeredMs - end.deletedMs + afterMs;
}

export function triggeredMs(lines: readonly Pick<PodEvent, "atMs" | "detail">[]): number | undefined {
  for (const { atMs, detail } of lines) {
    const entry = parsedJson(detail);
    const sinceMs = numberAt(entry, "sinceTriggerMs");
    if (textAt(entry, "phase") === "withdrawing" && sinceMs !== undefined) return atMs - sinceMs;
  }
  return undefined;
}

export function lastDrainSummary(lines: readonly string[]): DrainSummary | undefined {
  return lines.map(drainSummaryIn).findLast((report) => report !== undefined);
}

function drainSummaryIn(line: string): DrainSummary | undefined {
  const entry = parsedJson(line);
  const report = textAt(entry, "report", "outcome") === undefined ? entry : objectAt(entry, "report");
  const outcome = textAt(report, "outcome");
  const millisecondsByPhase = objectAt(report, "milliseconds");
  if (outcome === undefined || outcome === "none" || !("draining" in millisecondsByPhase)) return undefined;
  const text = (key: string) => textAt(report, key) ?? "";
  const milliseconds = (phase: keyof DrainReport["milliseconds"]) => numberAt(millisecondsByPhase, phase) ?? 0;
  return {
    outcome,
    trigger: text("trigger"),
    milliseconds: {
      withdrawing: milliseconds("withdrawing"),
      deregistration: milliseconds("deregistration"),
      draining: milliseconds("draining"),
      holding: milliseconds("holding"),
    },
    left: listAt(report, "left").map((connection) => ({
      local: textAt(connection, "local") ?? "",
      peer: textAt(connection, "peer") ?? "",
      ageMs: numberAt(connection, "ageMs") ?? 0,
    })),
    leftTotal: numberAt(report, "leftTotal") ?? 0,
    evidenceSource: text("evidenceSource"),
    why: text("why"),
    relay: text("relay"),
    withdrawnAfterMs: numberAt(report, "withdrawnAfterMs") ?? -1,
    resets: resetsIn(objectAt(report, "resets")),
  };
}

function resetsIn(resets: Record<string, unknown>): ResetsReport | undefined {
  const stopping = numberAt(resets, "stopping");
  if (stopping === undefined) return undefined;
  const count = (key: keyof ResetsReport) => numberAt(resets, key) ?? 0;
  return { draining: count("draining"), stopping, probes: count("probes"), stoppingMs: count("stoppingMs") };
}
