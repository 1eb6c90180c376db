/** Drain records out of JSON of unknown shape. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { plainText } from "../../drain-history/plain-text.ts";
import { readNotice, readRecordedNotice } from "../../drain-history/read-notice.ts";
import { type RawObject, textAt, valueAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";

/** The last moment a date can name. */
const LAST_MS = 8_640_000_000_000_000;

/** The longest name the API takes. */
const NAME_LIMIT = 253;

/** @returns `undefined` for what is no record of version 1 */
export function readDrainRecord(value: RawObject): DrainRecord | undefined {
  const id = textAt(value, "id") ?? "";
  const told = readRecordedNotice(value);
  if (!told.ok || !/^[A-Za-z0-9-]{1,64}$/.test(id)) return undefined;
  const { namespace, pod, uid, report } = told.notice;
  const ownerKind = plainText(textAt(value, "ownerKind") ?? "", NAME_LIMIT);
  const ownerName = plainText(textAt(value, "ownerName") ?? "", NAME_LIMIT);
  const endedAtMs = Math.min(LAST_MS, Math.max(0, wholeNumberAt(value, "endedAtMs") ?? 0));
  return { id, namespace, pod, uid, ownerKind, ownerName, endedAtMs, report };
}

/**
 * A line `drain report` of a manager's log. A manager knows neither its owner nor what o'clock it is.
 *
 * @param endedAtMs when the line was logged; 0 where that was not recorded
 */
export function readLoggedReport(value: RawObject, id: string, endedAtMs: number): DrainRecord | undefined {
  const told = readNotice({ ...value, uid: "unknown", report: valueAt(value, "report") });
  if (!told.ok) return undefined;
  const { namespace, pod, report } = told.notice;
  return { id, namespace, pod, uid: "", ownerKind: "", ownerName: "", endedAtMs, report };
}
