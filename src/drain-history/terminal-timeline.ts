/** One drain as a picture of text. Pure. What came from a Pod is passed on as it is: whoever prints it makes it safe. */
import type { DrainReport } from "../contract/drain-report.ts";
import type { DrainRecord } from "./drain-record.ts";
import { spanText } from "./span-text.ts";

const LABEL_WIDTH = 29;
const NARROWEST = 60;
/** More rows of clients than this hide the drain; the rest is counted. */
const CLIENT_ROWS = 8;

/** Milliseconds since the trigger. */
type Span = { readonly fromMs: number; readonly toMs: number };

type Row = { readonly label: string; readonly span: Span | undefined };

/** @param width columns of the whole picture; at least 60 are taken */
export function terminalTimeline(record: DrainRecord, width: number): readonly string[] {
  const whole = Math.max(NARROWEST, width);
  const { report } = record;
  const phases = phaseRows(report);
  const endMs = Math.max(1, ...phases.map(({ span }) => span?.toMs ?? 0));
  const columns = whole - LABEL_WIDTH - 1;
  const column = (ms: number): number => Math.round((ms / endMs) * columns);
  const line = ({ label, span }: Row): string => labelled(label, bar(span, columns, column));
  return [
    ...wrapped(titleOf(record), whole),
    ...wrapped(outcomeOf(record), whole),
    ...wrapped(report.why, whole),
    "",
    labelled("seconds since the trigger", scale(endMs, columns, column)),
    ...phases.map(line),
    ...clientLines(report, line),
  ];
}

function titleOf({ namespace, pod, ownerKind, ownerName }: DrainRecord): string {
  const owner = ownerName === "" ? "" : ` of ${ownerKind} ${ownerName}`;
  return `The drain of Pod ${namespace}/${pod}${owner}`;
}

function outcomeOf({ id, endedAtMs, report }: DrainRecord): string {
  const ended = endedAtMs > 0 ? `, ended ${new Date(endedAtMs).toISOString().replace("T", " ")}` : "";
  return `${report.outcome} after ${spanText(totalMsOf(report))}, trigger ${report.trigger}, witness ${report.witness}${ended}, drain ${id}`;
}

export function totalMsOf({ milliseconds }: DrainReport): number {
  const { withdrawing, deregistration, draining, holding } = milliseconds;
  return withdrawing + deregistration + draining + holding;
}

function phaseRows({ milliseconds }: DrainReport): readonly Row[] {
  const { withdrawing, deregistration, draining, holding } = milliseconds;
  let fromMs = 0;
  const row = (phase: string, ms: number): Row => {
    const span = { fromMs, toMs: fromMs + ms };
    fromMs += ms;
    const took = ms > 0 ? spanText(ms) : "–";
    return { label: phase + took.padStart(LABEL_WIDTH - 1 - phase.length), span: ms > 0 ? span : undefined };
  };
  return [
    row("withdrawing", withdrawing),
    row("deregistration", deregistration),
    row("draining", draining),
    row("holding", holding),
  ];
}

/** The clients that were there when the draining ended, since when they were seen. */
function clientLines({ milliseconds, left, leftTotal }: DrainReport, line: (row: Row) => string): readonly string[] {
  if (leftTotal === 0 && left.length === 0) return [];
  const endMs = milliseconds.withdrawing + milliseconds.deregistration + milliseconds.draining;
  const shown = left.slice(0, CLIENT_ROWS);
  const rows = shown.map(({ peer, local, ageMs, state }) => {
    // Of an age that is unknown only the end is sure.
    const span = { fromMs: Math.max(0, endMs - ageMs), toMs: endMs };
    return [
      line({ label: peer, span }),
      `  to ${local}, ${state}, ${ageMs > 0 ? `open for ${spanText(ageMs)}` : "open for an unknown time"}`,
    ];
  });
  const more = Math.max(leftTotal, left.length) - shown.length;
  return ["still open at the end of draining:", ...rows.flat(), ...(more > 0 ? [`  and ${more} more`] : [])];
}

function labelled(label: string, cells: readonly string[]): string {
  const cut = label.length >= LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 2)}…` : label;
  return `${cut.padEnd(LABEL_WIDTH)} ${cells.join("")}`.trimEnd();
}

/** Whatever took any time has at least one cell. */
function bar(span: Span | undefined, columns: number, column: (ms: number) => number): readonly string[] {
  const cells: string[] = Array.from({ length: columns }, () => "·");
  if (span === undefined) return cells;
  const from = Math.min(columns - 1, column(span.fromMs));
  const to = Math.max(from + 1, column(span.toMs));
  return cells.fill("█", from, to);
}

/** About one number every twelve columns, at a round distance. */
function scale(endMs: number, columns: number, column: (ms: number) => number): readonly string[] {
  const cells: string[] = Array.from({ length: columns }, () => " ");
  const stepMs = roundStep((endMs * 12) / columns);
  for (let count = 0; count * stepMs <= endMs; count += 1) {
    const text = String(Number(((count * stepMs) / 1_000).toPrecision(12)));
    const at = column(count * stepMs);
    if (at + text.length <= columns)
      [...text].forEach((digit, index) => {
        cells[at + index] = digit;
      });
  }
  return cells;
}

/** The next 1, 2 or 5 of any power of ten, in milliseconds; at least one. */
function roundStep(atLeastMs: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, atLeastMs)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= atLeastMs) ?? 10 * power;
}

/** Broken at spaces; a word that is wider than a line is cut. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((long) => long.match(new RegExp(`.{1,${width}}`, "gsu")) ?? [])) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}
