/** The records in a piece of text: what `drains --json` prints, with or without `--watch`, or the log of a manager. */
import { plainText } from "../../contract/untrusted-text.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { readNotice, readRecordedNotice } from "../../drain-history/read-notice.ts";
import { isRawObject, type RawObject, textAt, valueAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";

type ReadDrains = {
  readonly drains: readonly DrainRecord[];
  /** Entries that should be records and are none of version 1. */
  readonly unread: number;
  /** Something that holds drains was found, if only an empty list of them. */
  readonly isKnown: boolean;
};

const NOTHING: ReadDrains = { drains: [], unread: 0, isKnown: false };

/** Lines of a log that tell of something else are passed over. */
export function drainsInText(text: string): ReadDrains {
  const whole = parsed(text);
  if (whole !== undefined) return drainsInValue(whole, "line-000001", 0);
  const lines = text.split("\n").map((line, index) => {
    // What `kubectl logs --timestamps` puts in front.
    const [, time = "", json = ""] = /^\s*(\d{4}-\d\d-\d\dT\S+ )?(\{.*)$/.exec(line) ?? [];
    const value = json === "" ? undefined : parsed(json);
    const loggedAtMs = Date.parse(time.trim());
    return value === undefined
      ? NOTHING
      : drainsInValue(value, `line-${String(index + 1).padStart(6, "0")}`, Number.isNaN(loggedAtMs) ? 0 : loggedAtMs);
  });
  return together(lines);
}

/** `{"drains": […]}`, a list, one record, or one line of a log. */
export function drainsInValue(value: unknown, lineId = "", loggedAtMs = 0): ReadDrains {
  if (Array.isArray(value)) return { ...together(value.map(oneRecord)), isKnown: true };
  if (!isRawObject(value)) return NOTHING;
  if (Array.isArray(value["drains"])) return { ...together(value["drains"].map(oneRecord)), isKnown: true };
  if (value["message"] === "drain report") return counted(readLoggedReport(value, lineId, loggedAtMs));
  return "id" in value && "report" in value ? oneRecord(value) : NOTHING;
}

function oneRecord(value: unknown): ReadDrains {
  return counted(isRawObject(value) ? readDrainRecord(value) : undefined);
}

function counted(record: DrainRecord | undefined): ReadDrains {
  return record === undefined
    ? { drains: [], unread: 1, isKnown: true }
    : { drains: [record], unread: 0, isKnown: true };
}

function together(parts: readonly ReadDrains[]): ReadDrains {
  return {
    drains: parts.flatMap(({ drains }) => drains),
    unread: parts.reduce((sum, { unread }) => sum + unread, 0),
    isKnown: parts.some(({ isKnown }) => isKnown),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The last moment a date can name. */
const LAST_MS = 8_640_000_000_000_000;

/** The longest name the API takes. */
const NAME_LIMIT = 253;

/** @returns `undefined` for what is no record of version 1 */
function readDrainRecord(value: RawObject): DrainRecord | undefined {
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
function readLoggedReport(value: RawObject, id: string, endedAtMs: number): DrainRecord | undefined {
  const told = readNotice({ ...value, uid: "unknown", report: valueAt(value, "report") });
  if (!told.ok) return undefined;
  const { namespace, pod, report } = told.notice;
  return { id, namespace, pod, uid: "", ownerKind: "", ownerName: "", endedAtMs, report };
}
