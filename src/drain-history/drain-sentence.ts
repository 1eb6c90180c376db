/** Formats a drain as one line: outcome, duration, trigger, reason and open connections. */
import type { OpenConnection } from "../contract/drain-report.ts";
import type { DrainRecord, RecordedReport } from "./drain-record.ts";
import { OUTCOME_TEXTS, releaseMs, TRIGGER_TEXTS } from "./report-text.ts";
import { spanText } from "./time-text.ts";

const NAMED = 3;

/** The manager's reason without the duration, which the line has already. */
const TIMED = /^Released \S{1,12} after the trigger: (.+)$/;

/** One line of printable text. */
export function drainSentence(record: DrainRecord): string {
  const { report } = record;
  const start = `Pod ${record.pod} ${OUTCOME_TEXTS[report.outcome]}${afterTrigger(report)}`;
  const [, reason] = TIMED.exec(report.why) ?? [];
  const sentences = reason === undefined ? [`${start}.`, report.why] : [`${start}: ${reason}`];
  return [...sentences, openConnections(report)].filter((part) => part !== "").join(" ");
}

function afterTrigger(report: RecordedReport): string {
  if (report.trigger === "none") return "";
  return ` ${spanText(releaseMs(report))} after the trigger (${TRIGGER_TEXTS[report.trigger]})`;
}

/** Empty when the manager's reason lists the connections. */
function openConnections({ left, leftTotal, why }: RecordedReport): string {
  const [first] = left;
  if (leftTotal === 0 || (first !== undefined && why.includes(first.peer))) return "";
  const connections = leftTotal === 1 ? "1 connection was" : `${leftTotal} connections were`;
  const names = left.slice(0, NAMED).map(connectionText);
  const more = leftTotal > names.length && names.length > 0 ? ` and ${leftTotal - names.length} more` : "";
  return `${connections} still open${names.length === 0 ? "" : `: ${names.join(", ")}${more}`}.`;
}

function connectionText({ local, peer, ageMs }: OpenConnection): string {
  const port = local.slice(local.lastIndexOf(":") + 1);
  return `${peer} to port ${port}${ageMs > 0 ? ` for ${spanText(ageMs)}` : ""}`;
}
