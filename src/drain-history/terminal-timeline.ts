/**
 * One drain as a picture of text, with what the SVG shows. Pure. Text is passed on: the code that reads records makes
 * it plain.
 */
import type { DrainRecord } from "./drain-record.ts";
import { drainSentence } from "./drain-sentence.ts";
import { preloadText, relayText } from "./report-text.ts";
import { instantText, ticksTo } from "./time-text.ts";
import { type Bar, type Moment, timelineOf } from "./timeline.ts";

const LABEL_WIDTH = 29;
const NARROWEST = 60;
/** More rows of clients than this hide the drain; the rest is counted. */
const CLIENT_ROWS = 8;

type Axis = { readonly endMs: number; readonly columns: number };

/** @param width columns of the whole picture; at least 60 are taken */
export function terminalTimeline(record: DrainRecord, width: number): readonly string[] {
  const whole = Math.max(NARROWEST, width);
  const { endMs, bars, moments } = timelineOf(record);
  const axis = { endMs, columns: whole - LABEL_WIDTH - 1 };
  const clients = bars.filter(({ kind }) => kind === "connection");
  const more = Math.max(record.report.leftTotal, clients.length) - Math.min(CLIENT_ROWS, clients.length);
  return [
    ...wrapped(titleOf(record), whole),
    ...wrapped(drainSentence(record), whole),
    ...wrapped(detailsOf(record), whole),
    "",
    labelled("", scale(axis)),
    ...bars.filter(({ kind }) => kind !== "connection").map((bar) => labelled(beside(bar), cells(bar, axis))),
    ...clients
      .slice(0, CLIENT_ROWS)
      .flatMap((bar) => [labelled(bar.label, cells(bar, axis)), ...wrapped(bar.detail, whole - 2).map(indented)]),
    ...(more > 0 ? [`  and ${more} more ${more === 1 ? "connection" : "connections"}`] : []),
    ...moments.flatMap((moment) => momentLines(moment, whole)),
  ];
}

function indented(line: string): string {
  return `  ${line}`;
}

function titleOf({ namespace, pod, ownerKind, ownerName }: DrainRecord): string {
  const owner = ownerName === "" ? "" : ` of ${ownerKind} ${ownerName}`;
  return `The drain of Pod ${namespace}/${pod}${owner}`;
}

function detailsOf({ id, endedAtMs, report }: DrainRecord): string {
  const relay = report.relay === undefined ? "" : `, relay: ${relayText(report.relay)}`;
  const preload = report.preload === undefined ? "" : `, clients sent away: ${preloadText(report.preload)}`;
  return `${instantText(endedAtMs)}, drain ${id}, evidence from ${report.evidenceSource}${relay}${preload}`;
}

/** Both words of a phase in one label, the second at its right edge. */
function beside({ label, detail }: Bar): string {
  return label + detail.padStart(LABEL_WIDTH - 1 - label.length);
}

function labelled(label: string, drawn: readonly string[]): string {
  const cut = label.length >= LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 2)}…` : label;
  return `${cut.padEnd(LABEL_WIDTH)} ${drawn.join("")}`.trimEnd();
}

/** Any duration has at least one cell, and so has a connection. */
function cells({ kind, fromMs, toMs }: Bar, axis: Axis): readonly string[] {
  const drawn: string[] = Array.from({ length: axis.columns }, () => "·");
  if (toMs <= fromMs && kind !== "connection") return drawn;
  const from = Math.min(axis.columns - 1, columnAt(fromMs, axis));
  return drawn.fill("█", from, Math.max(from + 1, columnAt(toMs, axis)));
}

/** A number that would touch the one before is left out. */
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

/** Broken at spaces; a word that is wider than a line is cut. */
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
