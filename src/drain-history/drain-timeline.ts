/** Computes the bars and moments of a drain, in milliseconds since the trigger. Pure. */
import type { OpenConnection } from "../contract/drain-report.ts";
import type { DrainRecord, RecordedReport } from "./drain-record.ts";
import { isIncomplete, releaseMs, TRIGGER_TEXT, totalMs } from "./report-text.ts";
import { spanText } from "./time-text.ts";

export type Bar = {
  readonly kind: "withdrawing" | "deregistration" | "draining" | "holding" | "connection";
  readonly label: string;
  readonly detail: string;
  readonly fromMs: number;
  readonly toMs: number;
};

export type Moment = {
  readonly atMs: number;
  readonly label: string;
  readonly isFault?: boolean;
};

type Timeline = {
  readonly endMs: number;
  readonly bars: readonly Bar[];
  readonly moments: readonly Moment[];
};

const MIN_AXIS_MS = 1_000;

export function timelineOf({ report }: DrainRecord): Timeline {
  return {
    endMs: Math.max(MIN_AXIS_MS, totalMs(report) + (report.remainingMs ?? 0)),
    bars: [...phaseBars(report), ...report.left.map((connection) => connectionBar(connection, releaseMs(report)))],
    moments: momentsOf(report),
  };
}

function phaseBars({ milliseconds, outcome }: RecordedReport): readonly Bar[] {
  let fromMs = 0;
  const nextBar = (kind: keyof typeof milliseconds): Bar => {
    const durationMs = milliseconds[kind];
    const toMs = fromMs + durationMs;
    const phaseBar: Bar = {
      kind,
      label: kind,
      detail: durationMs > 0 ? spanText(durationMs) : "took no time",
      fromMs,
      toMs,
    };
    fromMs = toMs;
    return phaseBar;
  };
  // The outcome `lost`: the Pod was gone before its drain ended, so only the first phase is known.
  if (outcome === "lost") return [nextBar("withdrawing")];
  return [nextBar("withdrawing"), nextBar("deregistration"), nextBar("draining"), nextBar("holding")];
}

/** The age starts with the manager's first sample of the connection; if the age is unknown (0), the length of the bar is 0. */
function connectionBar({ local, peer, ageMs, state }: OpenConnection, endMs: number): Bar {
  const port = local.slice(local.lastIndexOf(":") + 1);
  const ageText = ageMs > 0 ? `observed for ${spanText(ageMs)}` : "observed at the end";
  const fromMs = Math.max(0, endMs - ageMs);
  return { kind: "connection", label: peer, detail: `to port ${port}, ${state}, ${ageText}`, fromMs, toMs: endMs };
}

function momentsOf(report: RecordedReport): readonly Moment[] {
  if (report.outcome === "lost") return lostMoments(report);
  const { withdrawing, deregistration, draining, holding } = report.milliseconds;
  const triggerMoment = { atMs: 0, label: `trigger: ${TRIGGER_TEXT[report.trigger]}` };
  const withdrawingEndMoment = { atMs: withdrawing, label: "phase withdrawing ended" };
  const afterMs = report.withdrawnAfterMs ?? -1;
  const withdrawnMs = Math.min(afterMs, totalMs(report));
  const withdrawalMoment = { atMs: withdrawnMs, label: withdrawnMs === 0 ? "withdrawn already" : "withdrawn" };
  const openText = report.leftTotal === 1 ? "1 connection" : `${report.leftTotal} connections`;
  const releaseMoment: Moment = {
    atMs: releaseMs(report),
    label: `drain ended, hooks answered, ${openText} open`,
    isFault: isIncomplete(report.outcome),
  };
  const lastReportMoment: Moment = { atMs: totalMs(report), label: `last report: ${report.phase}, ${openText} open` };
  const doneMoment = { atMs: totalMs(report), label: "done" };
  const moments: Moment[] = [
    triggerMoment,
    ...(afterMs >= 0 ? [withdrawalMoment] : []),
    ...(deregistration + draining > 0 ? [withdrawingEndMoment] : []),
    ...(report.remainingMs === undefined
      ? [releaseMoment]
      : [lastReportMoment, deadlineOf(report, report.remainingMs)]),
    ...(holding > 0 ? [doneMoment] : []),
  ];
  return moments.sort((left, right) => left.atMs - right.atMs);
}

function deadlineOf(report: RecordedReport, remainingMs: number): Moment {
  return { atMs: totalMs(report) + remainingMs, label: "deadline" };
}

/** For the outcome `lost`, the relay records neither the trigger nor the open connections. */
function lostMoments(report: RecordedReport): readonly Moment[] {
  return [
    { atMs: 0, label: "first request to the relay" },
    { atMs: releaseMs(report), label: "manager killed, hooks failed", isFault: true },
  ];
}
