/** Builds the timeline of one Pod's shutdown and renders it as text. Pure. */
import { notifiedAfterMs, type PodEnd } from "./pod-end.ts";

type Span = { readonly fromMs: number; readonly toMs: number };

type Lane = { readonly label: string; readonly spans: readonly Span[] };

export type Timeline = {
  readonly title: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
};

type Mark = { readonly atMs: number; readonly label: string };

const BEFORE_MS = 1_000;

export function timelineOf(end: PodEnd): Timeline {
  const sinceDeletionMs = (ms: number) => ms - end.deletedMs;
  const laneUntil = (label: string, toMs: number): Lane => ({ label, spans: [{ fromMs: -BEFORE_MS, toMs }] });
  const goneMs = Math.max(0, ...end.events.map((event) => sinceDeletionMs(event.atMs)));
  const endMs = Math.max(goneMs, end.propagationMs) + 500;
  const connectionSpans = end.forwardedConnections
    .filter((connection) => connection.pod === end.address)
    .map((connection) => ({
      fromMs: sinceDeletionMs(connection.fromMs),
      toMs: connection.toMs < 0 ? goneMs : sinceDeletionMs(connection.toMs),
    }));
  const terminationEvents = end.events.filter((event) => event.atMs >= end.deletedMs);
  const lanes: Lane[] = [
    end.slicesWithdrawnMs === undefined
      ? laneUntil("Pod is listed as ready", 0)
      : laneUntil("EndpointSlices list the Pod", sinceDeletionMs(end.slicesWithdrawnMs)),
    laneUntil("proxy sends new connections", end.propagationMs),
    { label: "open connections", spans: mergeSpans(connectionSpans) },
    ...drainLanes(end),
    ...terminationEvents
      .filter((event) => event.type === "exited")
      .map((exit) => laneUntil(`container ${exit.container} runs`, sinceDeletionMs(exit.atMs))),
  ];
  const signals = terminationEvents
    .filter((event) => event.type === "SIGTERM" || event.type === "SIGKILL")
    .map((event) => ({ atMs: sinceDeletionMs(event.atMs), label: `${event.type} to ${event.container}` }));
  const marks = [...withdrawalMarks(end), ...signals].sort((a, b) => a.atMs - b.atMs);
  return {
    title: `Shutdown of Pod ${end.pod}`,
    startMs: -BEFORE_MS,
    endMs,
    lanes: lanes.map((lane) => ({ ...lane, spans: clipSpans(lane.spans, -BEFORE_MS, endMs) })),
    marks: [{ atMs: 0, label: "deleted" }, ...marks, { atMs: goneMs, label: "gone" }],
  };
}

function drainLanes(end: PodEnd): Lane[] {
  const lanes: Lane[] = [];
  const notifiedMs = notifiedAfterMs(end);
  let fromMs = end.triggeredMs - end.deletedMs;
  if (notifiedMs !== undefined && notifiedMs > fromMs)
    lanes.push({ label: "lastcall: before withdrawal", spans: [{ fromMs, toMs: notifiedMs }] });
  for (const [phase, ms] of Object.entries(end.summary?.milliseconds ?? {})) {
    if (ms > 0) lanes.push({ label: `lastcall: ${phase}`, spans: [{ fromMs, toMs: fromMs + ms }] });
    fromMs += ms;
  }
  return lanes;
}

function withdrawalMarks(end: PodEnd): Mark[] {
  const slicesMs = end.slicesWithdrawnMs;
  const notifiedMs = notifiedAfterMs(end);
  return [
    ...(slicesMs === undefined
      ? []
      : [{ atMs: slicesMs - end.deletedMs, label: "Pod is withdrawn from EndpointSlices" }]),
    ...(notifiedMs === undefined ? [] : [{ atMs: notifiedMs, label: "lastcall is notified of the withdrawal" }]),
  ];
}

export function mergeSpans(spans: readonly Span[]): Span[] {
  const mergedSpans: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const lastSpan = mergedSpans.at(-1);
    if (lastSpan === undefined || span.fromMs > lastSpan.toMs) mergedSpans.push(span);
    else mergedSpans[mergedSpans.length - 1] = { fromMs: lastSpan.fromMs, toMs: Math.max(lastSpan.toMs, span.toMs) };
  }
  return mergedSpans;
}

function clipSpans(spans: readonly Span[], fromMs: number, toMs: number): Span[] {
  return spans
    .map((span) => ({ fromMs: Math.max(fromMs, span.fromMs), toMs: Math.min(toMs, span.toMs) }))
    .filter((span) => span.toMs >= span.fromMs);
}

const LABEL_WIDTH = 29;

export function timelineText(timeline: Timeline, width: number): string[] {
  const columns = Math.max(20, width - LABEL_WIDTH - 1);
  const columnsPerMs = (columns - 1) / (timeline.endMs - timeline.startMs);
  const column = (ms: number) => Math.round((ms - timeline.startMs) * columnsPerMs);
  const row = (label: string, cells: readonly string[]) =>
    `${label.slice(0, LABEL_WIDTH - 1).padEnd(LABEL_WIDTH)} ${cells.join("")}`.trimEnd();
  const lines = [timeline.title, row("seconds since the deletion", scale(timeline, columns, column))];
  for (const lane of timeline.lanes) {
    const cells = Array<string>(columns).fill("·");
    for (const { fromMs, toMs } of lane.spans)
      cells.fill("█", column(fromMs), Math.max(column(fromMs) + 1, column(toMs)));
    lines.push(row(lane.label, cells));
  }
  for (const mark of timeline.marks) lines.push(`${secondsText(mark.atMs).padStart(8)}  ${mark.label}`);
  return lines;
}

function scale(timeline: Timeline, columns: number, column: (ms: number) => number): string[] {
  const cells = Array<string>(columns).fill(" ");
  const stepMs = timeline.endMs > 16_000 ? 5_000 : 2_000;
  for (let ms = 0; ms <= timeline.endMs; ms += stepMs) {
    const text = String(ms / 1_000);
    if (column(ms) + text.length <= columns) cells.splice(column(ms), text.length, ...text);
  }
  return cells;
}

export function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
