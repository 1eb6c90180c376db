/** One Pod's end as lanes over time, and as text for a terminal. Pure. */
import type { DrainSummary } from "./drain-lines.ts";
import type { PodEnd } from "./pod-end.ts";
import { learnedAfterMs } from "./withdrawal.ts";

/** Milliseconds since the deletion; `fromMs` may be negative. */
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
  const at = (ms: number) => ms - end.deletedMs;
  const goneMs = Math.max(0, ...end.events.map((event) => at(event.atMs)));
  const endMs = Math.max(goneMs, end.propagationMs) + 500;
  const open = end.forwarded
    .filter((connection) => connection.pod === end.address)
    .map((connection) => ({ fromMs: at(connection.fromMs), toMs: connection.toMs < 0 ? goneMs : at(connection.toMs) }));
  const lanes: Lane[] = [
    offerLane(end, at),
    { label: "proxy sends new connections", spans: [{ fromMs: -BEFORE_MS, toMs: end.propagationMs }] },
    { label: "open connections", spans: merged(open) },
    ...knowledgeLanes(end, at),
    ...phaseLanes(end.summary, at(end.triggeredMs)),
    ...processLanes(end, at),
  ];
  const signals = end.events
    .filter((event) => event.atMs >= end.deletedMs && (event.what === "SIGTERM" || event.what === "SIGKILL"))
    .map((event) => ({ atMs: at(event.atMs), label: `${event.what} to ${event.container}` }));
  const marks = [...withdrawalMarks(end, at), ...signals].sort((a, b) => a.atMs - b.atMs);
  return {
    title: `The end of Pod ${end.pod}`,
    startMs: -BEFORE_MS,
    endMs,
    lanes: lanes.map((lane) => ({ ...lane, spans: clipped(lane.spans, -BEFORE_MS, endMs) })),
    marks: [{ atMs: 0, label: "deleted" }, ...marks, { atMs: goneMs, label: "gone" }],
  };
}

type SinceDeletion = (ms: number) => number;

/** Without slices no one asks the API itself, and it stops offering the Pod with its deletion. */
function offerLane({ slicesWithdrawnMs }: PodEnd, at: SinceDeletion): Lane {
  const label = slicesWithdrawnMs === undefined ? "API offers the Pod" : "EndpointSlices offer the Pod";
  return { label, spans: [{ fromMs: -BEFORE_MS, toMs: slicesWithdrawnMs === undefined ? 0 : at(slicesWithdrawnMs) }] };
}

/** How long the manager waited knowing that new connections may still be sent here. */
function knowledgeLanes(end: PodEnd, at: SinceDeletion): Lane[] {
  const learnedMs = learnedAfterMs(end);
  if (learnedMs === undefined || learnedMs <= at(end.triggeredMs)) return [];
  return [{ label: "lastcall: not withdrawn yet", spans: [{ fromMs: at(end.triggeredMs), toMs: learnedMs }] }];
}

function withdrawalMarks(end: PodEnd, at: SinceDeletion): Mark[] {
  const learnedMs = learnedAfterMs(end);
  return [
    ...(end.slicesWithdrawnMs === undefined
      ? []
      : [{ atMs: at(end.slicesWithdrawnMs), label: "EndpointSlices withdraw it" }]),
    ...(learnedMs === undefined ? [] : [{ atMs: learnedMs, label: "lastcall learns of the withdrawal" }]),
  ];
}

function phaseLanes(summary: DrainSummary | undefined, triggeredAfterMs: number): Lane[] {
  if (summary === undefined) return [];
  const lanes: Lane[] = [];
  let fromMs = triggeredAfterMs;
  for (const [phase, ms] of Object.entries(summary.milliseconds)) {
    if (ms > 0) lanes.push({ label: `lastcall: ${phase}`, spans: [{ fromMs, toMs: fromMs + ms }] });
    fromMs += ms;
  }
  return lanes;
}

function processLanes(end: PodEnd, at: SinceDeletion): Lane[] {
  const exits = end.events.filter((event) => event.what === "exited" && event.atMs >= end.deletedMs);
  return exits.map((exit) => ({
    label: `container ${exit.container} runs`,
    spans: [{ fromMs: -BEFORE_MS, toMs: at(exit.atMs) }],
  }));
}

/** Overlapping spans become one, in order of time. */
export function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = result.at(-1);
    if (last === undefined || span.fromMs > last.toMs) result.push(span);
    else result[result.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, span.toMs) };
  }
  return result;
}

function clipped(spans: readonly Span[], fromMs: number, toMs: number): Span[] {
  return spans
    .map((span) => ({ fromMs: Math.max(fromMs, span.fromMs), toMs: Math.min(toMs, span.toMs) }))
    .filter((span) => span.toMs >= span.fromMs);
}

const LABEL_WIDTH = 29;

/** @param width columns of the whole picture. */
export function timelineText(timeline: Timeline, width: number): string[] {
  const columns = Math.max(20, width - LABEL_WIDTH - 1);
  const perMs = (columns - 1) / (timeline.endMs - timeline.startMs);
  const column = (ms: number) => Math.round((ms - timeline.startMs) * perMs);
  const row = (label: string, cells: readonly string[]) =>
    `${label.slice(0, LABEL_WIDTH - 1).padEnd(LABEL_WIDTH)} ${cells.join("")}`.trimEnd();
  const lines = [timeline.title, row("seconds since its deletion", scale(timeline, columns, column))];
  for (const lane of timeline.lanes) {
    const cells: string[] = Array.from({ length: columns }, () => "·");
    for (const span of lane.spans) {
      for (let at = column(span.fromMs); at <= Math.max(column(span.fromMs), column(span.toMs) - 1); at++)
        if (at >= 0 && at < columns) cells[at] = "█";
    }
    lines.push(row(lane.label, cells));
  }
  for (const mark of timeline.marks) lines.push(`${seconds(mark.atMs).padStart(8)}  ${mark.label}`);
  return lines;
}

function scale(timeline: Timeline, columns: number, column: (ms: number) => number): string[] {
  const cells: string[] = Array.from({ length: columns }, () => " ");
  const stepMs = timeline.endMs > 16_000 ? 5_000 : 2_000;
  for (let ms = 0; ms <= timeline.endMs; ms += stepMs) {
    const text = String(ms / 1_000);
    const at = column(ms);
    if (at + text.length <= columns) for (let i = 0; i < text.length; i++) cells[at + i] = text[i] ?? "";
  }
  return cells;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
