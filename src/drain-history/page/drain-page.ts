/** The page of one drain: its sentence, its picture, and everything its report says. Pure. */
import type { DrainRecord } from "../drain-record.ts";
import { drainSentence } from "../drain-sentence.ts";
import { farewellWords, relayWords, TRIGGER_WORDS } from "../drain-words.ts";
import { instantText } from "../instant-text.ts";
import { escaped } from "../markup.ts";
import { spanText } from "../span-text.ts";
import { timelineSvg } from "../timeline-svg.ts";
import { cell, heading, link, pageFrame, paragraph, table } from "./page-frame.ts";

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
    ["told by", report.outcome === "lost" ? "unknown" : TRIGGER_WORDS[report.trigger]],
    ["owner", `${record.ownerKind} ${record.ownerName}`.trim()],
    ["Pod uid", record.uid],
    ["decided by", report.witness],
    ["relay", relayWords(report.relay ?? "none")],
    ...(report.farewell === undefined ? [] : [["clients sent away", farewellWords(report.farewell)] as const]),
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
