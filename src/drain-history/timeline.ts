/** Converts a drain to bars and moments in milliseconds since the trigger. */
import type { OpenConnection } from "../contract/drain-report.ts";
import type { DrainRecord, RecordedReport } from "./drain-record.ts";
import { isIncomplete, releaseMs, TRIGGER_TEXTS, wholeMs } from "./report-text.ts";
import { spanText } from "./time-text.ts";

export type Bar = {
  readonly kind: "withdrawing" | "deregistration" | "draining" | "holding" | "connection";
  readonly label: string;
  /** Second line; may be empty. */
  readonly detail: string;
  readonly fromMs: number;
  readonly toMs: number;
};

export type Moment = {
  readonly atMs: number;
  readonly label: string;
  /** Requests may have been lost. */
  readonly isFault?: boolean;
};

type Timeline = {
  readonly endMs: number;
  readonly bars: readonly Bar[];
  readonly moments: readonly Moment[];
};

/** So that short drains have a scale too. */
const SHORTEST_MS = 1_000;

export function timelineOf({ report }: DrainRecord): Timeline {
  return {
    endMs: Math.max(SHORTEST_MS, wholeMs(report)),
    bars: [...phaseBars(report), ...report.left.map((connection) => connectionBar(connection, releaseMs(report)))],
    moments: momentsOf(report),
  };
}

function phaseBars({ milliseconds, outcome }: RecordedReport): readonly Bar[] {
  let fromMs = 0;
  const bar = (kind: keyof typeof milliseconds): Bar => {
    const took = milliseconds[kind];
    const toMs = fromMs + took;
    const placed: Bar = { kind, label: kind, detail: took > 0 ? spanText(took) : "took no time", fromMs, toMs };
    fromMs = toMs;
    return placed;
  };
  // A lost drain has no later phases.
  if (outcome === "lost") return [bar("withdrawing")];
  return [bar("withdrawing"), bar("deregistration"), bar("draining"), bar("holding")];
}

/** Starts at the first sample of the connection; with an unknown age only the end is known. */
function connectionBar({ local, peer, ageMs, state }: OpenConnection, endMs: number): Bar {
  const port = local.slice(local.lastIndexOf(":") + 1);
  const age = ageMs > 0 ? `seen for ${spanText(ageMs)}` : "seen at the end";
  const fromMs = Math.max(0, endMs - ageMs);
  return { kind: "connection", label: peer, detail: `to port ${port}, ${state}, ${age}`, fromMs, toMs: endMs };
}

function momentsOf(report: RecordedReport): readonly Moment[] {
  if (report.outcome === "lost") return lostMoments(report);
  const { withdrawing, deregistration, draining, holding } = report.milliseconds;
  const trigger = { atMs: 0, label: `trigger: ${TRIGGER_TEXTS[report.trigger]}` };
  const withdrawn = { atMs: withdrawing, label: "withdrawal over" };
  const after = report.withdrawnAfterMs ?? -1;
  const outMs = Math.min(after, wholeMs(report));
  const outOfRotation = { atMs: outMs, label: outMs === 0 ? "out of rotation already" : "out of rotation" };
  const open = report.leftTotal === 1 ? "1 connection" : `${report.leftTotal} connections`;
  const released: Moment = {
    atMs: releaseMs(report),
    label: `release, hooks answered, ${open} open`,
    isFault: isIncomplete(report.outcome),
  };
  const done = { atMs: wholeMs(report), label: "done" };
  const moments: Moment[] = [
    trigger,
    ...(after >= 0 ? [outOfRotation] : []),
    ...(deregistration + draining > 0 ? [withdrawn] : []),
    released,
    ...(holding > 0 ? [done] : []),
  ];
  return moments.sort((one, other) => one.atMs - other.atMs);
}

/** The relay does not have the trigger and the connections of a lost drain. */
function lostMoments(report: RecordedReport): readonly Moment[] {
  return [
    { atMs: 0, label: "first request to the relay" },
    { atMs: releaseMs(report), label: "manager died, hooks failed", isFault: true },
  ];
}
