/** Describes a drain in sentences: outcome, duration, trigger, reason and open connections. Pure. */
import type { OpenConnection } from "../contract/drain-report.ts";
import type { DrainRecord, RecordedReport } from "./drain-record.ts";
import { OUTCOME_TEXT, releaseMs, resetsText, TRIGGER_TEXT } from "./report-text.ts";
import { spanText } from "./time-text.ts";

const NAMED_CLIENTS_LIMIT = 3;

/** Matches reasons that repeat the duration, which the sentence already has. */
const TIMED_REASON = /^Released \S{1,12} after the trigger: (.+)$/;
/** Matches the reason of a running drain, which repeats its state. */
const RUNNING_REASON = /^Still draining, (.+)$/;

export function drainSentence(record: DrainRecord): string {
  const { report } = record;
  const sentenceStart = `Pod ${record.pod} ${OUTCOME_TEXT[report.outcome]}${triggerText(report)}`;
  const sentences = sentencesWithReason(sentenceStart, report.why);
  const resetsPart =
    report.resets === undefined ? "" : `When the Pod stopped, it cut or refused ${resetsText(report.resets)}.`;
  return [...sentences, openConnectionsText(report), resetsPart].filter((part) => part !== "").join(" ");
}

function sentencesWithReason(sentenceStart: string, why: string): readonly string[] {
  const [, reason] = TIMED_REASON.exec(why) ?? [];
  if (reason !== undefined) return [`${sentenceStart}: ${reason}`];
  const [, runningReason] = RUNNING_REASON.exec(why) ?? [];
  return runningReason === undefined ? [`${sentenceStart}.`, why] : [`${sentenceStart}, ${runningReason}`];
}

function triggerText(report: RecordedReport): string {
  if (report.trigger === "none") return "";
  return ` ${spanText(releaseMs(report))} after the trigger (${TRIGGER_TEXT[report.trigger]})`;
}

/** Empty if the manager's reason names the connections already. */
function openConnectionsText({ left, leftTotal, why }: RecordedReport): string {
  const [first] = left;
  if (leftTotal === 0 || (first !== undefined && why.includes(first.peer))) return "";
  const connectionsText = leftTotal === 1 ? "1 connection was" : `${leftTotal} connections were`;
  const connectionTexts = left.slice(0, NAMED_CLIENTS_LIMIT).map(connectionText);
  const moreText =
    leftTotal > connectionTexts.length && connectionTexts.length > 0
      ? ` and ${leftTotal - connectionTexts.length} more`
      : "";
  return `${connectionsText} still open${connectionTexts.length === 0 ? "" : `: ${connectionTexts.join(", ")}${moreText}`}.`;
}

function connectionText({ local, peer, ageMs }: OpenConnection): string {
  const port = local.slice(local.lastIndexOf(":") + 1);
  return `${peer} to port ${port}${ageMs > 0 ? ` for ${spanText(ageMs)}` : ""}`;
}
