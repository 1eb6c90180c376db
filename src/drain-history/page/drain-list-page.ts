/** The page of recent drains. Pure. */
import type { DrainRecord } from "../drain-record.ts";
import { isIncomplete, wholeMs } from "../drain-words.ts";
import { instantText } from "../instant-text.ts";
import { escaped } from "../markup.ts";
import { spanText } from "../span-text.ts";
import { type Cell, cell, heading, link, pageFrame, paragraph, table } from "./page-frame.ts";

export type DrainList = {
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
