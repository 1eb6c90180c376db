/** Renders the page of one drain: summary, timeline and all fields of the report. */
import type { DrainRecord } from "../drain-record.ts";
import { drainSentence } from "../drain-sentence.ts";
import { isIncomplete, preloadText, relayText, TRIGGER_TEXTS, wholeMs } from "../report-text.ts";
import { escaped } from "../safe-text.ts";
import { instantText, spanText } from "../time-text.ts";
import { timelineSvg } from "../timeline-svg.ts";
import { type Cell, cell, heading, link, pageFrame, paragraph, table } from "./page-frame.ts";

/** Its address is `drains/<id>` below the list's. */
export function drainPage(record: DrainRecord): string {
  const { report } = record;
  const title = `Drain of ${record.namespace}/${record.pod}`;
  return pageFrame(title, [
    `<p>${link("../", "all drains")} ${link(`../?namespace=${encodeURIComponent(record.namespace)}`, "of this namespace")}</p>`,
    heading(title),
    paragraph(drainSentence(record)),
    timelineSvg(record),
    `<p>${link(`${encodeURIComponent(record.id)}.svg`, "the picture alone")}</p>`,
    facts(record),
    ...(report.left.length === 0 ? [] : [paragraph(stillOpen(record)), connections(record)]),
  ]);
}

function facts(record: DrainRecord): string {
  const { report } = record;
  const rows: readonly (readonly [string, string])[] = [
    ["ended", instantText(record.endedAtMs)],
    ["outcome", report.outcome],
    ["trigger", report.outcome === "lost" ? "unknown" : TRIGGER_TEXTS[report.trigger]],
    ["owner", `${record.ownerKind} ${record.ownerName}`.trim()],
    ["Pod uid", record.uid],
    ["decided by", report.evidenceSource],
    ["relay", relayText(report.relay ?? "none")],
    ...(report.preload === undefined ? [] : [["clients sent away", preloadText(report.preload)] as const]),
    ...Object.entries(report.milliseconds).map(([phase, ms]): readonly [string, string] => [phase, spanText(ms)]),
  ];
  return table(
    ["fact", "value"],
    rows.map(([name, value]) => [cell(escaped(name)), cell(escaped(value))]),
  );
}

function stillOpen({ report }: DrainRecord): string {
  const shown = report.leftTotal > report.left.length ? `, of which ${report.left.length} are shown` : "";
  return `Still open when the draining ended: ${report.leftTotal}${shown}.`;
}

function connections({ report }: DrainRecord): string {
  return table(
    ["client", "to", "state", "seen for"],
    report.left.map(({ peer, local, state, ageMs }) => [
      cell(escaped(peer)),
      cell(escaped(local)),
      cell(escaped(state)),
      cell(ageMs > 0 ? spanText(ageMs) : "unknown", "number"),
    ]),
  );
}

/** The page of recent drains. Pure. */
type DrainList = {
  /** Newest first. */
  readonly drains: readonly DrainRecord[];
  /** The replica that remembers them. */
  readonly instance: string;
  /** The only namespace shown; `undefined` shows all. */
  readonly namespace: string | undefined;
};

/** No one reads more rows, and making them would hold up whatever else the process does. */
const ROWS_LIMIT = 200;
/** In characters; all of it is on the page of the drain. */
const WHY_LIMIT = 300;

const COLUMNS = ["ended", "namespace", "Pod", "owner", "outcome", "took", "left open", "why"];

/** Its address must end with a slash: the links go on from there. */
export function drainListPage({ drains, instance, namespace }: DrainList): string {
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  const title = `Recent drains${where}`;
  const about = `As replica ${instance} remembers them, newest first; other replicas remember others.`;
  return pageFrame(title, [
    heading(title),
    paragraph(about),
    ...(namespace === undefined ? [] : [`<p>${link("./", "all namespaces")}</p>`]),
    drains.length === 0
      ? paragraph("No drain was reported yet.")
      : table(COLUMNS, drains.slice(0, ROWS_LIMIT).map(row)),
    ...(drains.length > ROWS_LIMIT ? [paragraph(`${drains.length - ROWS_LIMIT} older ones are not shown.`)] : []),
  ]);
}

function row(record: DrainRecord): readonly Cell[] {
  const { report } = record;
  return [
    cell(instantText(record.endedAtMs), "when"),
    cell(link(`./?namespace=${encodeURIComponent(record.namespace)}`, record.namespace)),
    cell(link(`drains/${encodeURIComponent(record.id)}`, record.pod), "name"),
    cell(escaped(`${record.ownerKind} ${record.ownerName}`.trim()), "name"),
    cell(report.outcome, isIncomplete(report.outcome) ? "fault" : ""),
    cell(spanText(wholeMs(report)), "number"),
    cell(report.outcome === "lost" ? "unknown" : String(report.leftTotal), "number"),
    cell(escaped(cut(report.why))),
  ];
}

function cut(why: string): string {
  return why.length > WHY_LIMIT ? `${why.slice(0, WHY_LIMIT - 3)}...` : why;
}
