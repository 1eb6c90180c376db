/** Parses and validates drain notices. Pods are untrusted, so every field is checked and bounded. Pure. */
import {
  type DrainOutcome,
  type DrainReport,
  type DrainTrigger,
  LEFT_LIMIT,
  type OpenConnection,
  type PhaseDurations,
  type PhaseName,
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
const PHASE_DURATIONS = ["withdrawing", "deregistration", "draining", "holding"] as const;

/** In characters. The manager's longest reason names three IPv6 clients and a remedy. */
const WHY_LIMIT = 1_000;
/** In characters; the longest address with port has 53. */
const ADDRESS_LIMIT = 56;
/** In characters; the longest identifier has 13. */
const IDENTIFIER_LIMIT = 24;
/** In characters; the value is an identifier, or `unknown: ` and a reason. */
const RELAY_LIMIT = 200;
const ECHO_LIMIT = 40;
/** Three years, so that sums of durations stay small. */
const SPAN_LIMIT_MS = 100_000_000_000;
/** More sockets than a Pod can have. */
const LEFT_TOTAL_LIMIT = 10_000_000;

const POD = /^[a-z0-9][-a-z0-9.]{0,252}$/;
const UID = /^[-0-9A-Za-z]{1,64}$/;

type Fields = { readonly [key: string]: unknown };

/** Thrown and caught in this file only; callers get a result value. */
class InvalidNotice extends Error {}

/** Ignores unknown fields, which newer managers may send. */
export function readNotice(value: unknown): NoticeReading {
  return readWith(value, OUTCOMES);
}

export function readRecordedNotice(value: unknown): RecordReading {
  return readWith(value, RECORDED_OUTCOMES);
}

type NoticeOf<Outcome> = RelayedPod & { readonly report: ReportOf<Outcome> };
type ReportOf<Outcome> = Omit<DrainReport, "outcome"> & { readonly outcome: Outcome };

function readWith<Outcome extends RecordedOutcome>(
  value: unknown,
  outcomes: readonly Outcome[],
): Reading<NoticeOf<Outcome>> {
  try {
    const fields = fieldsOf(value, "the notice");
    const notice = {
      namespace: matching(fields, "namespace", DNS_LABEL, "the name of a namespace"),
      pod: matching(fields, "pod", POD, "the name of a Pod"),
      uid: matching(fields, "uid", UID, "the uid of a Pod"),
      report: reportOf(fieldsOf(own(fields, "report"), "report"), outcomes),
    };
    return { ok: true, notice };
  } catch (error) {
    if (error instanceof InvalidNotice) return { ok: false, problem: error.message };
    throw error;
  }
}

function reportOf<Outcome extends RecordedOutcome>(report: Fields, outcomes: readonly Outcome[]): ReportOf<Outcome> {
  if (own(report, "version") !== 1) throw invalid("report.version", own(report, "version"), "1");
  const left = connectionsOf(own(report, "left"));
  const leftTotal = wholeNumberUpTo(report, "leftTotal", LEFT_TOTAL_LIMIT, "report.leftTotal");
  if (leftTotal < left.length) throw invalid("report.leftTotal", leftTotal, `at least the ${left.length} in left`);
  return {
    version: 1,
    phase: oneOf(report, "phase", PHASES),
    outcome: oneOf(report, "outcome", outcomes),
    trigger: oneOf(report, "trigger", TRIGGERS),
    milliseconds: durationsOf(fieldsOf(own(report, "milliseconds"), "report.milliseconds")),
    left,
    leftTotal,
    evidenceSource: textOf(report, "evidenceSource", IDENTIFIER_LIMIT, "report.evidenceSource"),
    why: textOf(report, "why", WHY_LIMIT, "report.why"),
    ...withdrawalOf(report),
    ...preloadOf(report),
  };
}

/** Managers without relay support omit the fields. */
function withdrawalOf(report: Fields): Pick<DrainReport, "relay" | "withdrawnAfterMs"> {
  const relay =
    own(report, "relay") === undefined ? {} : { relay: textOf(report, "relay", RELAY_LIMIT, "report.relay") };
  const after = own(report, "withdrawnAfterMs");
  if (after === undefined) return relay;
  const isNever = after === -1;
  const place = "report.withdrawnAfterMs";
  return {
    ...relay,
    withdrawnAfterMs: isNever ? -1 : wholeNumberUpTo(report, "withdrawnAfterMs", SPAN_LIMIT_MS, place),
  };
}

/** Present only for Pods with a preloaded library that sends `Connection: close`. */
function preloadOf(report: Fields): Pick<DrainReport, "preload"> {
  if (own(report, "preload") === undefined) return {};
  const fields = fieldsOf(own(report, "preload"), "report.preload");
  const connections =
    own(fields, "connections") === -1
      ? -1
      : wholeNumberUpTo(fields, "connections", LEFT_TOTAL_LIMIT, "report.preload.connections");
  const processes = wholeNumberUpTo(fields, "processes", LEFT_TOTAL_LIMIT, "report.preload.processes");
  if (own(fields, "missed") === undefined) return { preload: { processes, connections } };
  const missed = wholeNumberUpTo(fields, "missed", LEFT_TOTAL_LIMIT, "report.preload.missed");
  return { preload: { processes, missed, connections } };
}

function durationsOf(fields: Fields): PhaseDurations {
  const [withdrawing, deregistration, draining, holding] = PHASE_DURATIONS.map((phase) =>
    wholeNumberUpTo(fields, phase, SPAN_LIMIT_MS, `report.milliseconds.${phase}`),
  );
  return {
    withdrawing: withdrawing ?? 0,
    deregistration: deregistration ?? 0,
    draining: draining ?? 0,
    holding: holding ?? 0,
  };
}

function connectionsOf(value: unknown): readonly OpenConnection[] {
  if (!Array.isArray(value)) throw invalid("report.left", value, "a list");
  if (value.length > LEFT_LIMIT) {
    throw new InvalidNotice(`report.left: has ${value.length} entries, more than the limit of ${LEFT_LIMIT}.`);
  }
  return value.map((entry: unknown, at) => {
    const place = `report.left[${at}]`;
    const fields = fieldsOf(entry, place);
    return {
      local: textOf(fields, "local", ADDRESS_LIMIT, `${place}.local`),
      peer: textOf(fields, "peer", ADDRESS_LIMIT, `${place}.peer`),
      ageMs: wholeNumberUpTo(fields, "ageMs", SPAN_LIMIT_MS, `${place}.ageMs`),
      state: textOf(fields, "state", IDENTIFIER_LIMIT, `${place}.state`),
    };
  });
}

/** Ignores inherited fields, such as `constructor`. */
function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function fieldsOf(value: unknown, place: string): Fields {
  if (!isFields(value)) throw invalid(place, value, "an object");
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matching(fields: Fields, key: string, pattern: RegExp, expected: string): string {
  const value = own(fields, key);
  // The length check bounds the time of the pattern.
  if (typeof value === "string" && value.length <= 253 && pattern.test(value)) return value;
  throw invalid(key, value, expected);
}

function oneOf<T extends string>(fields: Fields, key: string, allowed: readonly T[]): T {
  const value = own(fields, key);
  const known = allowed.find((word) => word === value);
  if (known === undefined) throw invalid(`report.${key}`, value, `one of ${allowed.join(", ")}`);
  return known;
}

function textOf(fields: Fields, key: string, limit: number, place: string): string {
  const value = own(fields, key);
  if (typeof value !== "string") throw invalid(place, value, "a string");
  return plainText(value, limit);
}

/** Rounds fractions and turns -0 into 0. */
function wholeNumberUpTo(fields: Fields, key: string, limit: number, place: string): number {
  const value = own(fields, key);
  if (typeof value === "number" && value >= 0 && value <= limit) return Math.abs(Math.round(value));
  throw invalid(place, value, `a number from 0 to ${limit}`);
}

function invalid(place: string, value: unknown, expected: string): InvalidNotice {
  return new InvalidNotice(`${place}: ${describeValue(value)} is not ${expected}.`);
}

function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return `"${plainText(value, ECHO_LIMIT)}"`;
  if (typeof value === "object") return Array.isArray(value) ? "a list" : value === null ? "null" : "an object";
  return plainText(String(value), ECHO_LIMIT);
}
