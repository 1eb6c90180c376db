/** Renders the page of one drain and the list of recent drains. Pure. */
import type { ResetsReport } from "../../contract/drain-report.ts";
import { type DrainRecord, isRunning } from "../drain-record.ts";
import { drainSentence } from "../drain-sentence.ts";
import {
  connectionCloseText,
  isIncomplete,
  outcomeText,
  relayText,
  resetsText,
  TRIGGER_TEXT,
  totalMs,
} from "../report-text.ts";
import { escapeMarkup } from "../safe-text.ts";
import { instantText, spanText } from "../time-text.ts";
import { timelineSvg } from "../timeline-svg.ts";
import { type Cell, cell, heading, link, pageFrame, paragraph, table } from "./page-frame.ts";

export function drainPage(record: DrainRecord): string {
  const { report } = record;
  const title = `Drain of ${record.namespace}/${record.pod}`;
  return pageFrame(title, [
    `<p>${link("../", "all drains")} ${link(`../?namespace=${encodeURIComponent(record.namespace)}`, "drains in this namespace")}</p>`,
    heading(title),
    paragraph(drainSentence(record)),
    timelineSvg(record),
    `<p>${link(`${encodeURIComponent(record.id)}.svg`, "SVG")}</p>`,
    detailsTable(record),
    ...(report.left.length === 0 ? [] : [paragraph(openConnectionsText(record)), connectionsTable(record)]),
  ]);
}

function detailsTable(record: DrainRecord): string {
  const { report } = record;
  const rows: readonly (readonly [string, string])[] = [
    [isRunning(record) ? "last report" : "ended", instantText(record.endedAtMs)],
    ["outcome", outcomeText(report)],
    ...(report.remainingMs === undefined ? [] : [["time until its deadline", spanText(report.remainingMs)] as const]),
    ["trigger", report.outcome === "lost" ? "unknown" : TRIGGER_TEXT[report.trigger]],
    ["owner", `${record.ownerKind} ${record.ownerName}`.trim()],
    ["Pod uid", record.uid],
    ["evidence source", report.evidenceSource],
    ["relay", relayText(report.relay ?? "none")],
    ...(report.preload === undefined ? [] : [["preload", connectionCloseText(report.preload)] as const]),
    ["cut or refused when the Pod stopped", report.resets === undefined ? "unknown" : resetsText(report.resets)],
    ...Object.entries(report.milliseconds).map(([phase, ms]): readonly [string, string] => [phase, spanText(ms)]),
  ];
  return table(
    ["fact", "value"],
    rows.map(([name, value]) => [cell(escapeMarkup(name)), cell(escapeMarkup(value))]),
  );
}

function openConnectionsText({ report }: DrainRecord): string {
  const shownText = report.leftTotal > report.left.length ? `, ${report.left.length} shown` : "";
  const whenText = report.outcome === "none" ? "at the last report" : "at the end of draining";
  return `Connections still open ${whenText}: ${report.leftTotal}${shownText}.`;
}

function connectionsTable({ report }: DrainRecord): string {
  return table(
    ["client", "to", "state", "observed for"],
    report.left.map(({ peer, local, state, ageMs }) => [
      cell(escapeMarkup(peer)),
      cell(escapeMarkup(local)),
      cell(escapeMarkup(state)),
      cell(ageMs > 0 ? spanText(ageMs) : "unknown", "number"),
    ]),
  );
}

type DrainList = {
  readonly drains: readonly DrainRecord[];
  readonly instance: string;
  /** The namespace by which `drains` is already filtered; `undefined` for all namespaces. */
  readonly namespace: string | undefined;
};

/** Limits the time for which rendering blocks the event loop. */
const ROWS_LIMIT = 200;
const WHY_LIMIT = 300;

const COLUMNS = ["ended", "namespace", "Pod", "owner", "outcome", "took", "left open", "resets", "why"];

/** The URL of this page has to end with a slash, because the links in the page are relative. */
export function drainListPage({ drains, instance, namespace }: DrainList): string {
  const namespaceText = namespace === undefined ? "" : ` in ${namespace}`;
  const title = `Recent drains${namespaceText}`;
  const description = `Recorded by replica ${instance}, newest first. Other replicas record other drains.`;
  return pageFrame(title, [
    heading(title),
    paragraph(description),
    ...(namespace === undefined ? [] : [`<p>${link("./", "all namespaces")}</p>`]),
    drains.length === 0
      ? paragraph("No drains recorded yet.")
      : table(COLUMNS, drains.slice(0, ROWS_LIMIT).map(drainRow)),
    ...(drains.length > ROWS_LIMIT ? [paragraph(`${drains.length - ROWS_LIMIT} older drains are not shown.`)] : []),
  ]);
}

function drainRow(record: DrainRecord): readonly Cell[] {
  const { report } = record;
  return [
    cell(instantText(record.endedAtMs), "when"),
    cell(link(`./?namespace=${encodeURIComponent(record.namespace)}`, record.namespace)),
    cell(link(`drains/${encodeURIComponent(record.id)}`, record.pod), "name"),
    cell(escapeMarkup(`${record.ownerKind} ${record.ownerName}`.trim()), "name"),
    cell(outcomeText(report), isIncomplete(report.outcome) ? "fault" : ""),
    cell(spanText(totalMs(report)), "number"),
    cell(report.outcome === "lost" ? "unknown" : String(report.leftTotal), "number"),
    resetsCell(report.resets),
    cell(escapeMarkup(truncate(report.why))),
  ];
}

function resetsCell(resets: ResetsReport | undefined): Cell {
  if (resets === undefined) return cell("unknown", "number");
  return cell(String(resets.stopping), resets.stopping > 0 ? "fault" : "number");
}

function truncate(why: string): string {
  return why.length > WHY_LIMIT ? `${why.slice(0, WHY_LIMIT - 3)}...` : why;
}
