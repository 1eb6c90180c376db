/** The end of one Pod: its events and the drain report of its manager. Pure. */
import type { DrainReport, OpenConnection } from "../../contract/drain-report.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { listAt, numberAt, objectAt, parsedJson, textAt } from "../json.ts";
import type { Tally } from "../load/load.ts";
import type { Forwarded } from "../network/service-proxy.ts";
import type { PodEvent, RunningPod } from "../pods/running-pod.ts";

/** Result of one of the two rolling updates. */
export type VariantResult = { readonly tally: Tally; readonly ended: readonly EndedPod[]; readonly tookMs: number };

export type PodEnd = {
  readonly pod: string;
  readonly address: string;
  readonly deletedMs: number;
  /** When the drain of its manager started; the deletion where that is unknown. */
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

export type DrainSummary = {
  readonly outcome: string;
  readonly trigger: string;
  readonly milliseconds: DrainReport["milliseconds"];
  readonly left: readonly Pick<OpenConnection, "local" | "peer" | "ageMs">[];
  readonly leftTotal: number;
  readonly evidenceSource: string;
  readonly why: string;
  /** As in the report; empty where the report has none. */
  readonly relay: string;
  /** From the trigger, milliseconds; -1 when the manager did not see the withdrawal. */
  readonly withdrawnAfterMs: number;
};

/** A manager whose app ignores its stop signal reports its own end long after the drain. */
const REPORT_SLACK_MS = 2_000;

export function endOf(
  { plan, address, events }: RunningPod,
  surroundings: Pick<PodEnd, "forwarded" | "propagationMs" | "slicesWithdrawnMs">,
): EndedPod {
  const fromMs = deletedMs({ events });
  const regular = plan.containers.filter((container) => container.role === "regular").map(({ name }) => name);
  const signalled = events.find((event) => event.what === "SIGTERM" && regular.includes(event.container));
  const releasedMs = signalled?.atMs ?? events.at(-1)?.atMs ?? fromMs;
  const lines = events.filter(
    ({ what, container, atMs }) =>
      what === "line" && container === MANAGER_CONTAINER && atMs <= releasedMs + REPORT_SLACK_MS,
  );
  return {
    ...surroundings,
    pod: plan.name,
    address,
    deletedMs: fromMs,
    triggeredMs: triggeredMs(lines.filter((line) => line.atMs >= fromMs)) ?? fromMs,
    events,
    summary: drainSummary(lines.map((line) => line.detail)),
    drainSeconds: Math.round((releasedMs - fromMs) / 10) / 100,
  };
}

export function deletedMs({ events }: Pick<RunningPod, "events">): number {
  return events.find((event) => event.what === "deleted")?.atMs ?? 0;
}

/** Milliseconds since the deletion; `undefined` when the manager did not see the withdrawal. */
export function learnedAfterMs(end: PodEnd): number | undefined {
  const afterMs = end.summary?.withdrawnAfterMs ?? -1;
  return afterMs < 0 ? undefined : end.triggeredMs - end.deletedMs + afterMs;
}

/** When the drain started, on the clock of the demo; `undefined` when it did not. */
export function triggeredMs(lines: readonly Pick<PodEvent, "atMs" | "detail">[]): number | undefined {
  for (const { atMs, detail } of lines) {
    const entry = parsedJson(detail);
    const sinceMs = numberAt(entry, "sinceTriggerMs");
    if (textAt(entry, "phase") === "withdrawing" && sinceMs !== undefined) return atMs - sinceMs;
  }
  return undefined;
}

/** The last drain report in the output of a manager. Skips other lines. */
export function drainSummary(lines: readonly string[]): DrainSummary | undefined {
  return lines.map(reportIn).findLast((report) => report !== undefined);
}

function reportIn(line: string): DrainSummary | undefined {
  const entry = parsedJson(line);
  const report = textAt(entry, "report", "outcome") === undefined ? entry : objectAt(entry, "report");
  const outcome = textAt(report, "outcome");
  const spans = objectAt(report, "milliseconds");
  if (outcome === undefined || outcome === "none" || !("draining" in spans)) return undefined;
  const text = (key: string) => textAt(report, key) ?? "";
  const milliseconds = (phase: keyof DrainReport["milliseconds"]) => numberAt(spans, phase) ?? 0;
  return {
    outcome,
    trigger: text("trigger"),
    milliseconds: {
      withdrawing: milliseconds("withdrawing"),
      deregistration: milliseconds("deregistration"),
      draining: milliseconds("draining"),
      holding: milliseconds("holding"),
    },
    left: listAt(report, "left").map((open) => ({
      local: textAt(open, "local") ?? "",
      peer: textAt(open, "peer") ?? "",
      ageMs: numberAt(open, "ageMs") ?? 0,
    })),
    leftTotal: numberAt(report, "leftTotal") ?? 0,
    evidenceSource: text("evidenceSource"),
    why: text("why"),
    relay: text("relay"),
    withdrawnAfterMs: numberAt(report, "withdrawnAfterMs") ?? -1,
  };
}
