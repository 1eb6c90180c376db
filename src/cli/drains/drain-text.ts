/** Reads drain records from the output of `drains --json`, with or without `--watch`, or from a manager's log. */
import { plainText } from "../../contract/untrusted-text.ts";
import { parseDrainNotice, parseRecordedNotice } from "../../drain-history/drain-notice.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { contentKey } from "../../drain-history/merge.ts";
import { isRawObject, type RawObject, textAt, valueAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";

type ReadDrains = {
  readonly drains: readonly DrainRecord[];
  readonly unreadableCount: number;
  readonly isRecognized: boolean;
};

const NO_DRAINS: ReadDrains = { drains: [], unreadableCount: 0, isRecognized: false };

export function drainsInText(text: string): ReadDrains {
  const document = parseJson(text);
  if (document !== undefined) return drainsInValue(document, "line-000001", 0);
  const lineReadings = text.split("\n").map((line, index) => {
    // `kubectl logs --timestamps` writes a timestamp before each line.
    const [, time = "", json = ""] = /^\s*(\d{4}-\d\d-\d\dT\S+ )?(\{.*)$/.exec(line) ?? [];
    const value = json === "" ? undefined : parseJson(json);
    const loggedAtMs = Date.parse(time.trim());
    return value === undefined
      ? NO_DRAINS
      : drainsInValue(value, `line-${String(index + 1).padStart(6, "0")}`, Number.isNaN(loggedAtMs) ? 0 : loggedAtMs);
  });
  const combinedReading = combineReadings(lineReadings);
  return { ...combinedReading, drains: withoutFirstReports(combinedReading.drains) };
}

/** Drops the first of two reports of a drain: a manager logs its report again when it exits, with the connections that the Pod reset. */
function withoutFirstReports(drains: readonly DrainRecord[]): readonly DrainRecord[] {
  const lastReports = new Set(drains.filter(({ report }) => report.resets !== undefined).map(contentKey));
  return drains.filter((drain) => drain.report.resets !== undefined || !lastReports.has(contentKey(drain)));
}

/** Accepts `{"drains": […]}`, a list of records, one record, or one line of a manager's log. */
export function drainsInValue(value: unknown, lineId = "", loggedAtMs = 0): ReadDrains {
  if (Array.isArray(value)) return { ...combineReadings(value.map(singleRecord)), isRecognized: true };
  if (!isRawObject(value)) return NO_DRAINS;
  if (Array.isArray(value["drains"]))
    return { ...combineReadings(value["drains"].map(singleRecord)), isRecognized: true };
  if (value["message"] === "drain report") return drainsFromRecord(readLoggedReport(value, lineId, loggedAtMs));
  return "id" in value && "report" in value ? singleRecord(value) : NO_DRAINS;
}

function singleRecord(value: unknown): ReadDrains {
  return drainsFromRecord(isRawObject(value) ? readDrainRecord(value) : undefined);
}

function drainsFromRecord(record: DrainRecord | undefined): ReadDrains {
  return record === undefined
    ? { drains: [], unreadableCount: 1, isRecognized: true }
    : { drains: [record], unreadableCount: 0, isRecognized: true };
}

function combineReadings(parts: readonly ReadDrains[]): ReadDrains {
  return {
    drains: parts.flatMap(({ drains }) => drains),
    unreadableCount: parts.reduce((sum, { unreadableCount }) => sum + unreadableCount, 0),
    isRecognized: parts.some(({ isRecognized }) => isRecognized),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The largest time value of an ECMAScript Date. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/** Length limit of DNS subdomain names in the Kubernetes API. */
const NAME_LIMIT = 253;

function readDrainRecord(value: RawObject): DrainRecord | undefined {
  const id = textAt(value, "id") ?? "";
  const reading = parseRecordedNotice(value);
  if (!reading.ok || !/^[A-Za-z0-9-]{1,64}$/.test(id)) return undefined;
  const { namespace, pod, uid, report } = reading.notice;
  const ownerKind = plainText(textAt(value, "ownerKind") ?? "", NAME_LIMIT);
  const ownerName = plainText(textAt(value, "ownerName") ?? "", NAME_LIMIT);
  const endedAtMs = Math.min(MAX_DATE_MS, Math.max(0, wholeNumberAt(value, "endedAtMs") ?? 0));
  return { id, namespace, pod, uid, ownerKind, ownerName, endedAtMs, report };
}

/**
 * Reads a line `drain report` of a manager's log. The line contains neither the Pod's owner nor the wall-clock time.
 *
 * @param endedAtMs when the line was logged; 0 for a line without timestamp
 */
function readLoggedReport(value: RawObject, id: string, endedAtMs: number): DrainRecord | undefined {
  const reading = parseDrainNotice({ ...value, uid: "unknown", report: valueAt(value, "report") });
  if (!reading.ok) return undefined;
  const { namespace, pod, report } = reading.notice;
  return { id, namespace, pod, uid: "", ownerKind: "", ownerName: "", endedAtMs, report };
}
