/** Parses drain notices: a Pod and its drain report. Pods are untrusted, so it checks and limits all fields. Pure. */
import {
  type DrainOutcome,
  type DrainReport,
  type DrainTrigger,
  LEFT_LIMIT,
  type OpenConnection,
  type PhaseDurations,
  type PhaseName,
  type ResetsReport,
} from "../contract/drain-report.ts";
import type { DrainNotice, RelayedPod } from "../contract/relay-wire.ts";
import { DNS_LABEL, plainText } from "../contract/untrusted-text.ts";
import type { RecordedOutcome, RecordedReport } from "./drain-record.ts";

type NoticeReading = Reading<DrainNotice>;

type RecordReading = Reading<RelayedPod & { readonly report: RecordedReport }>;

type Reading<Notice> =
  | { readonly ok: true; readonly notice: Notice }
  | { readonly ok: false; readonly problem: string };

const OUTCOMES: readonly DrainOutcome[] = [
  "none",
  "drained",
  "handed-over",
  "blind",
  "timeout",
  "not-needed",
  "restarted",
  "forced",
];
export const RECORDED_OUTCOMES: readonly RecordedOutcome[] = [...OUTCOMES, "lost"];
const PHASES: readonly PhaseName[] = ["idle", "withdrawing", "draining", "holding", "done"];
const TRIGGERS: readonly DrainTrigger[] = ["none", "hook", "relay", "sigterm"];
const DURATION_FIELDS = ["withdrawing", "deregistration", "draining", "holding"] as const;

/** In characters. The manager's longest reason names three IPv6 clients and a remedy. */
const WHY_LIMIT = 1_000;
/** In characters; the longest address with a port has 53. */
const ADDRESS_LIMIT = 56;
/** In characters; the longest identifier has 13. */
const IDENTIFIER_LIMIT = 24;
/** In characters; the value is an identifier, or `unknown: ` and a reason. */
const RELAY_LIMIT = 200;
const QUOTED_VALUE_LIMIT = 40;
/** Three years, so that sums of durations stay small. */
const SPAN_LIMIT_MS = 100_000_000_000;
/** More sockets than a Pod can have. */
const LEFT_TOTAL_LIMIT = 10_000_000;
/** More than the kernel can count, so that sums stay exact. */
const RESETS_LIMIT = 10_000_000_000;

const POD_NAME_PATTERN = /^[a-z0-9][-a-z0-9.]{0,252}$/;
const UID_PATTERN = /^[-0-9A-Za-z]{1,64}$/;

type Fields = { readonly [key: string]: unknown };

/** Thrown and caught in this file only; callers get a result value. */
class InvalidNotice extends Error {}

/** Ignores unknown fields, which newer managers may send. */
export function parseDrainNotice(value: unknown): NoticeReading {
  return parseNotice(value, OUTCOMES);
}

export function parseRecordedNotice(value: unknown): RecordReading {
  return parseNotice(value, RECORDED_OUTCOMES);
}

type NoticeOf<Outcome> = RelayedPod & { readonly report: ReportOf<Outcome> };
type ReportOf<Outcome> = Omit<DrainReport, "outcome"> & { readonly outcome: Outcome };

function parseNotice<Outcome extends RecordedOutcome>(
  value: unknown,
  outcomes: readonly Outcome[],
): Reading<NoticeOf<Outcome>> {
  try {
    const fields = readFields(value, "the notice");
    const notice = {
      namespace: readMatchingText(fields, "namespace", DNS_LABEL, "the name of a namespace"),
      pod: readMatchingText(fields, "pod", POD_NAME_PATTERN, "the name of a Pod"),
      uid: readMatchingText(fields, "uid", UID_PATTERN, "the uid of a Pod"),
      report: readReport(readFields(ownValue(fields, "report"), "report"), outcomes),
    };
    return { ok: true, notice };
  } catch (error) {
    if (error instanceof InvalidNotice) return { ok: false, problem: error.message };
    throw error;
  }
}

function readReport<Outcome extends RecordedOutcome>(report: Fields, outcomes: readonly Outcome[]): ReportOf<Outcome> {
  if (ownValue(report, "version") !== 1) throw invalidField("report.version", ownValue(report, "version"), "1");
  const left = readConnections(ownValue(report, "left"));
  const leftTotal = readWholeNumber(report, "leftTotal", LEFT_TOTAL_LIMIT, "report.leftTotal");
  if (leftTotal < left.length)
    throw invalidField("report.leftTotal", leftTotal, `at least ${left.length}, the number of entries in report.left`);
  return {
    version: 1,
    phase: readOneOf(report, "phase", PHASES),
    outcome: readOneOf(report, "outcome", outcomes),
    trigger: readOneOf(report, "trigger", TRIGGERS),
    milliseconds: readDurations(readFields(ownValue(report, "milliseconds"), "report.milliseconds")),
    left,
    leftTotal,
    evidenceSource: readText(report, "evidenceSource", IDENTIFIER_LIMIT, "report.evidenceSource"),
    ...readRemaining(report),
    why: readText(report, "why", WHY_LIMIT, "report.why"),
    ...readWithdrawal(report),
    ...readPreload(report),
    ...readResets(report),
  };
}

/** Present only in the report of a running drain. */
function readRemaining(report: Fields): Pick<DrainReport, "remainingMs"> {
  if (ownValue(report, "outcome") !== "none") return {};
  return { remainingMs: readWholeNumber(report, "remainingMs", SPAN_LIMIT_MS, "report.remainingMs") };
}

/** Both fields are optional: managers without relay support omit them. */
function readWithdrawal(report: Fields): Pick<DrainReport, "relay" | "withdrawnAfterMs"> {
  const relay =
    ownValue(report, "relay") === undefined ? {} : { relay: readText(report, "relay", RELAY_LIMIT, "report.relay") };
  const afterMs = ownValue(report, "withdrawnAfterMs");
  if (afterMs === undefined) return relay;
  const isUnreported = afterMs === -1;
  const place = "report.withdrawnAfterMs";
  return {
    ...relay,
    withdrawnAfterMs: isUnreported ? -1 : readWholeNumber(report, "withdrawnAfterMs", SPAN_LIMIT_MS, place),
  };
}

/** Present only for Pods with a preload library that sends `Connection: close`. */
function readPreload(report: Fields): Pick<DrainReport, "preload"> {
  if (ownValue(report, "preload") === undefined) return {};
  const fields = readFields(ownValue(report, "preload"), "report.preload");
  const connections =
    ownValue(fields, "connections") === -1
      ? -1
      : readWholeNumber(fields, "connections", LEFT_TOTAL_LIMIT, "report.preload.connections");
  const processes = readWholeNumber(fields, "processes", LEFT_TOTAL_LIMIT, "report.preload.processes");
  if (ownValue(fields, "missed") === undefined) return { preload: { processes, connections } };
  const missed = readWholeNumber(fields, "missed", LEFT_TOTAL_LIMIT, "report.preload.missed");
  return { preload: { processes, missed, connections } };
}

/** Present only in the second report of a Pod, which a native sidecar sends when it exits. */
function readResets(report: Fields): Pick<DrainReport, "resets"> {
  if (ownValue(report, "resets") === undefined) return {};
  const fields = readFields(ownValue(report, "resets"), "report.resets");
  const readCount = (key: keyof ResetsReport) => readWholeNumber(fields, key, RESETS_LIMIT, `report.resets.${key}`);
  return {
    resets: {
      draining: readCount("draining"),
      stopping: readCount("stopping"),
      probes: readCount("probes"),
      stoppingMs: readWholeNumber(fields, "stoppingMs", SPAN_LIMIT_MS, "report.resets.stoppingMs"),
    },
  };
}

function readDurations(fields: Fields): PhaseDurations {
  const [withdrawing, deregistration, draining, holding] = DURATION_FIELDS.map((phase) =>
    readWholeNumber(fields, phase, SPAN_LIMIT_MS, `report.milliseconds.${phase}`),
  );
  return {
    withdrawing: withdrawing ?? 0,
    deregistration: deregistration ?? 0,
    draining: draining ?? 0,
    holding: holding ?? 0,
  };
}

function readConnections(value: unknown): readonly OpenConnection[] {
  if (!Array.isArray(value)) throw invalidField("report.left", value, "a list");
  if (value.length > LEFT_LIMIT) {
    throw new InvalidNotice(`report.left has ${value.length} entries, expected at most ${LEFT_LIMIT}.`);
  }
  return value.map((entry: unknown, index) => {
    const place = `report.left[${index}]`;
    const fields = readFields(entry, place);
    return {
      local: readText(fields, "local", ADDRESS_LIMIT, `${place}.local`),
      peer: readText(fields, "peer", ADDRESS_LIMIT, `${place}.peer`),
      ageMs: readWholeNumber(fields, "ageMs", SPAN_LIMIT_MS, `${place}.ageMs`),
      state: readText(fields, "state", IDENTIFIER_LIMIT, `${place}.state`),
    };
  });
}

/** Ignores inherited fields, such as `constructor`. */
function ownValue(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function readFields(value: unknown, place: string): Fields {
  if (!isFields(value)) throw invalidField(place, value, "an object");
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readMatchingText(fields: Fields, key: string, pattern: RegExp, expected: string): string {
  const value = ownValue(fields, key);
  // The length check limits the time that the pattern takes.
  if (typeof value === "string" && value.length <= 253 && pattern.test(value)) return value;
  throw invalidField(key, value, expected);
}

function readOneOf<T extends string>(fields: Fields, key: string, allowed: readonly T[]): T {
  const value = ownValue(fields, key);
  const match = allowed.find((allowedValue) => allowedValue === value);
  if (match === undefined) throw invalidField(`report.${key}`, value, `one of ${allowed.join(", ")}`);
  return match;
}

function readText(fields: Fields, key: string, limit: number, place: string): string {
  const value = ownValue(fields, key);
  if (typeof value !== "string") throw invalidField(place, value, "a string");
  return plainText(value, limit);
}

/** Rounds fractions and converts -0 to 0. */
function readWholeNumber(fields: Fields, key: string, limit: number, place: string): number {
  const value = ownValue(fields, key);
  if (typeof value === "number" && value >= 0 && value <= limit) return Math.abs(Math.round(value));
  throw invalidField(place, value, `a number from 0 to ${limit}`);
}

function invalidField(place: string, value: unknown, expected: string): InvalidNotice {
  return new InvalidNotice(`${place} is ${describeValue(value)}, expected ${expected}.`);
}

function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return `"${plainText(value, QUOTED_VALUE_LIMIT)}"`;
  if (typeof value === "object") return Array.isArray(value) ? "a list" : value === null ? "null" : "an object";
  return plainText(String(value), QUOTED_VALUE_LIMIT);
}
