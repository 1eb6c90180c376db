/**
 * Draws one drain as text, with the same bars and moments as the SVG. Does not escape, because parsed records contain only
 * printable text. Pure.
 */
import type { DrainRecord } from "./drain-record.ts";
import { drainSentence } from "./drain-sentence.ts";
import { type Bar, type Moment, timelineOf } from "./drain-timeline.ts";
import { connectionCloseText, relayText } from "./report-text.ts";
import { instantText, ticksTo } from "./time-text.ts";

const LABEL_WIDTH = 29;
const MIN_WIDTH = 60;
const CLIENT_ROWS_LIMIT = 8;

type Axis = { readonly endMs: number; readonly columns: number };

export function terminalTimeline(record: DrainRecord, width: number): readonly string[] {
  const lineWidth = Math.max(MIN_WIDTH, width);
  const { endMs, bars, moments } = timelineOf(record);
  const axis = { endMs, columns: lineWidth - LABEL_WIDTH - 1 };
  const clientBars = bars.filter(({ kind }) => kind === "connection");
  const hiddenCount =
    Math.max(record.report.leftTotal, clientBars.length) - Math.min(CLIENT_ROWS_LIMIT, clientBars.length);
  return [
    ...wrapText(titleOf(record), lineWidth),
    ...wrapText(drainSentence(record), lineWidth),
    ...wrapText(detailsOf(record), lineWidth),
    "",
    labelledRow("", drawScale(axis)),
    ...bars.filter(({ kind }) => kind !== "connection").map((bar) => labelledRow(phaseLabel(bar), drawBar(bar, axis))),
    ...clientBars
      .slice(0, CLIENT_ROWS_LIMIT)
      .flatMap((bar) => [
        labelledRow(bar.label, drawBar(bar, axis)),
        ...wrapText(bar.detail, lineWidth - 2).map(indent),
      ]),
    ...(hiddenCount > 0 ? [`  and ${hiddenCount} more ${hiddenCount === 1 ? "connection" : "connections"}`] : []),
    ...moments.flatMap((moment) => momentLines(moment, lineWidth)),
  ];
}

function indent(line: string): string {
  return `  ${line}`;
}

function titleOf({ namespace, pod, ownerKind, ownerName }: DrainRecord): string {
  const owner = ownerName === "" ? "" : ` of ${ownerKind} ${ownerName}`;
  return `Drain of Pod ${namespace}/${pod}${owner}`;
}

function detailsOf({ id, endedAtMs, report }: DrainRecord): string {
  const relayPart = report.relay === undefined ? "" : `, relay: ${relayText(report.relay)}`;
  const closingText = report.preload === undefined ? "" : `, preload: ${connectionCloseText(report.preload)}`;
  return `${instantText(endedAtMs)}, drain ${id}, evidence source ${report.evidenceSource}${relayPart}${closingText}`;
}

function phaseLabel({ label, detail }: Bar): string {
  return label + detail.padStart(LABEL_WIDTH - 1 - label.length);
}

function labelledRow(label: string, rowCells: readonly string[]): string {
  const shortLabel = label.length >= LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 2)}…` : label;
  return `${shortLabel.padEnd(LABEL_WIDTH)} ${rowCells.join("")}`.trimEnd();
}

/** Connections, and phases of more than 0 ms, have at least one filled cell. */
function drawBar({ kind, fromMs, toMs }: Bar, axis: Axis): readonly string[] {
  const rowCells: string[] = Array.from({ length: axis.columns }, () => "·");
  if (toMs <= fromMs && kind !== "connection") return rowCells;
  const firstColumn = Math.min(axis.columns - 1, columnAt(fromMs, axis));
  return rowCells.fill("█", firstColumn, Math.max(firstColumn + 1, columnAt(toMs, axis)));
}

function drawScale(axis: Axis): readonly string[] {
  let line = "";
  for (const { atMs, text } of ticksTo(axis.endMs)) {
    const column = columnAt(atMs, axis);
    const isFree = line === "" || column > line.length;
    if (isFree && column + text.length <= axis.columns) line = line.padEnd(column) + text;
  }
  return [line];
}

function columnAt(ms: number, { endMs, columns }: Axis): number {
  return Math.round((ms / endMs) * columns);
}

function momentLines({ atMs, label }: Moment, width: number): readonly string[] {
  const timeText = `${(atMs / 1_000).toFixed(2).padStart(8)} s  `;
  return wrapText(label, width - timeText.length).map(
    (line, index) => (index === 0 ? timeText : " ".repeat(timeText.length)) + line,
  );
}

function wrapText(text: string, width: number): readonly string[] {
  const piecePattern = new RegExp(`.{1,${width}}`, "gs");
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((longWord) => longWord.match(piecePattern) ?? [])) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}
