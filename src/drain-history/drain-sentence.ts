/** A drain in words: what became of it, how long it took and who asked, why, and what stayed open. Pure. */
import type { OpenConnection } from "../contract/drain-report.ts";
import type { DrainRecord, RecordedReport } from "./drain-record.ts";
import { OUTCOME_WORDS, releaseMs, TRIGGER_WORDS } from "./drain-words.ts";
import { spanText } from "./time-text.ts";

/** Clients named; a sentence stays a sentence. */
const NAMED = 3;

/** How the manager begins where it says the time, which is said here already. */
const TIMED = /^Released \S{1,12} after the trigger: (.+)$/;

/** One line of printable text. */
export function drainSentence(record: DrainRecord): string {
  const { report } = record;
  const start = `Pod ${record.pod} ${OUTCOME_WORDS[report.outcome]}${told(report)}`;
  const [, reason] = TIMED.exec(report.why) ?? [];
  const sentences = reason === undefined ? [`${start}.`, report.why] : [`${start}: ${reason}`];
  return [...sentences, stayed(report)].filter((part) => part !== "").join(" ");
}

function told(report: RecordedReport): string {
  if (report.trigger === "none") return "";
  return ` ${spanText(releaseMs(report))} after it was told by ${TRIGGER_WORDS[report.trigger]}`;
}

/** What the manager's own words name already is not said twice. */
function stayed({ left, leftTotal, why }: RecordedReport): string {
  const [first] = left;
  if (leftTotal === 0 || (first !== undefined && why.includes(first.peer))) return "";
  const connections = leftTotal === 1 ? "1 connection was" : `${leftTotal} connections were`;
  const names = left.slice(0, NAMED).map(inWords);
  const more = leftTotal > names.length && names.length > 0 ? ` and ${leftTotal - names.length} more` : "";
  return `${connections} still open${names.length === 0 ? "" : `: ${names.join(", ")}${more}`}.`;
}

function inWords({ local, peer, ageMs }: OpenConnection): string {
  const port = local.slice(local.lastIndexOf(":") + 1);
  return `${peer} to port ${port}${ageMs > 0 ? ` for ${spanText(ageMs)}` : ""}`;
}
