/**
 * Draws one drain as text, with the contents of the SVG. Pure. Does not escape: record texts are plain once parsed.
 */
import type { DrainRecord } from "./drain-record.ts";
import { drainSentence } from "./drain-sentence.ts";
import { type Bar, type Moment, timelineOf } from "./drain-timeline.ts";
import { connectionCloseText, relayText } from "./report-text.ts";
import { instantText, ticksTo } from "./time-text.ts";

const LABEL_WIDTH = 29;
const MIN_WIDTH = 60;
const CLIENT_ROWS = 8;

type Axis = { readonly endMs: number; readonly columns: number };

export function terminalTimeline(record: DrainRecord, width: number): readonly string[] {
  const whole = Math.max(MIN_WIDTH, width);
  const { endMs, bars, moments } = timelineOf(record);
  const axis = { endMs, columns: whole - LABEL_WIDTH - 1 };
  const clients = bars.filter(({ kind }) => kind === "connection");
  const more = Math.max(record.report.leftTotal, clients.length) - Math.min(CLIENT_ROWS, clients.length);
  return [
    ...wrapped(titleOf(record), whole),
    ...wrapped(drainSentence(record), whole),
    ...wrapped(detailsOf(record), whole),
    "",
    labelledRow("", scale(axis)),
    ...bars.filter(({ kind }) => kind !== "connection").map((bar) => labelledRow(phaseLabel(bar), cells(bar, axis))),
    ...clients
      .slice(0, CLIENT_ROWS)
      .flatMap((bar) => [labelledRow(bar.label, cells(bar, axis)), ...wrapped(bar.detail, whole - 2).map(indented)]),
    ...(more > 0 ? [`  and ${more} more ${more === 1 ? "connection" : "connections"}`] : []),
    ...moments.flatMap((moment) => momentLines(moment, whole)),
  ];
}

function indented(line: string): string {
  return `  ${line}`;
}

function titleOf({ namespace, pod, ownerKind, ownerName }: DrainRecord): string {
  const owner = ownerName === "" ? "" : ` of ${ownerKind} ${ownerName}`;
  return `Drain of Pod ${namespace}/${pod}${owner}`;
}

function detailsOf({ id, endedAtMs, report }: DrainRecord): string {
  const relay = report.relay === undefined ? "" : `, relay: ${relayText(report.relay)}`;
  const closing = report.preload === undefined ? "" : `, clients sent away: ${connectionCloseText(report.preload)}`;
  return `${instantText(endedAtMs)}, drain ${id}, evidence source ${report.evidenceSource}${relay}${closing}`;
}

function phaseLabel({ label, detail }: Bar): string {
  return label + detail.padStart(LABEL_WIDTH - 1 - label.length);
}

function labelledRow(label: string, drawn: readonly string[]): string {
  const cut = label.length >= LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 2)}…` : label;
  return `${cut.padEnd(LABEL_WIDTH)} ${drawn.join("")}`.trimEnd();
}

/** Connections and phases that took any time have at least one cell. */
function cells({ kind, fromMs, toMs }: Bar, axis: Axis): readonly string[] {
  const drawn: string[] = Array.from({ length: axis.columns }, () => "·");
  if (toMs <= fromMs && kind !== "connection") return drawn;
  const from = Math.min(axis.columns - 1, columnAt(fromMs, axis));
  return drawn.fill("█", from, Math.max(from + 1, columnAt(toMs, axis)));
}

function scale(axis: Axis): readonly string[] {
  let line = "";
  for (const { atMs, text } of ticksTo(axis.endMs)) {
    const at = columnAt(atMs, axis);
    const isFree = line === "" || at > line.length;
    if (isFree && at + text.length <= axis.columns) line = line.padEnd(at) + text;
  }
  return [line];
}

function columnAt(ms: number, { endMs, columns }: Axis): number {
  return Math.round((ms / endMs) * columns);
}

function momentLines({ atMs, label }: Moment, width: number): readonly string[] {
  const time = `${(atMs / 1_000).toFixed(2).padStart(8)} s  `;
  return wrapped(label, width - time.length).map((line, at) => (at === 0 ? time : " ".repeat(time.length)) + line);
}

function wrapped(text: string, width: number): readonly string[] {
  const piece = new RegExp(`.{1,${width}}`, "gs");
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((long) => long.match(piece) ?? [])) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}
