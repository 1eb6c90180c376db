/** The records in a piece of text: what `drains --json` prints, with or without `--watch`, or the log of a manager. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { readDrainRecord, readLoggedReport } from "./record-reading.ts";

export type ReadDrains = {
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
