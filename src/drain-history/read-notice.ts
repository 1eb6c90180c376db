/** Parses and validates the report of a Pod, which may be hostile. */
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

/** `problem` is one sentence for the sender: place, value and remedy. */
type NoticeReading = Reading<DrainNotice>;

/** As {@link NoticeReading}, for a record of a replica. */
type RecordReading = Reading<RelayedPod & { readonly report: RecordedReport }>;

type Reading<Notice> =
  | { readonly ok: true; readonly notice: Notice }
  | { readonly ok: false; readonly problem: string };

const OUTCOMES: readonly DrainOutcome[] = ["drained", "blind", "timeout", "not-needed", "restarted", "forced"];
/** Records of replicas have one outcome more. */
export const RECORDED_OUTCOMES: readonly RecordedOutcome[] = [...OUTCOMES, "lost"];
const PHASES: readonly PhaseName[] = ["idle", "withdrawing", "draining", "holding", "done"];
const TRIGGERS: readonly DrainTrigger[] = ["none", "hook", "relay", "sigterm"];
const PHASE_DURATIONS = ["withdrawing", "deregistration", "draining", "holding"] as const;

/** In characters. The longest sentence of the manager names three clients by IPv6 and gives advice. */
const WHY_LIMIT = 1_000;
/** In characters; the longest address with its port has 53. */
const ADDRESS_LIMIT = 56;
const WORD_LIMIT = 24;
/** In characters; a word, or `unknown: REASON`. */
const RELAY_LIMIT = 200;
/** In characters of a value that a problem repeats. */
const ECHO_LIMIT = 40;
/** Three years in milliseconds: no span in a report is longer, and sums of spans stay small. */
const SPAN_LIMIT_MS = 100_000_000_000;
/** No Pod has more sockets. */
const LEFT_TOTAL_LIMIT = 10_000_000;

const POD = /^[a-z0-9][-a-z0-9.]{0,252}$/;
const UID = /^[-0-9A-Za-z]{1,64}$/;

type Fields = { readonly [key: string]: unknown };

/** Thrown and caught in this file only, so that readers return plain values. */
class Refusal extends Error {}

/** Ignores unknown fields: a newer manager may send more. */
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
    if (error instanceof Refusal) return { ok: false, problem: error.message };
    throw error;
  }
}

function reportOf<Outcome extends RecordedOutcome>(report: Fields, outcomes: readonly Outcome[]): ReportOf<Outcome> {
  if (own(report, "version") !== 1) throw refusal("report.version", own(report, "version"), "1");
  const left = connectionsOf(own(report, "left"));
  const leftTotal = wholeUpTo(report, "leftTotal", LEFT_TOTAL_LIMIT, "report.leftTotal");
  if (leftTotal < left.length) throw refusal("report.leftTotal", leftTotal, `at least the ${left.length} in left`);
  return {
    version: 1,
    phase: oneOf(report, "phase", PHASES),
    outcome: oneOf(report, "outcome", outcomes),
    trigger: oneOf(report, "trigger", TRIGGERS),
    milliseconds: durationsOf(fieldsOf(own(report, "milliseconds"), "report.milliseconds")),
    left,
    leftTotal,
    evidenceSource: textOf(report, "evidenceSource", WORD_LIMIT, "report.evidenceSource"),
    why: textOf(report, "why", WHY_LIMIT, "report.why"),
    ...withdrawalOf(report),
    ...preloadOf(report),
  };
}

/** Managers without relay support omit both. */
function withdrawalOf(report: Fields): Pick<DrainReport, "relay" | "withdrawnAfterMs"> {
  const relay =
    own(report, "relay") === undefined ? {} : { relay: textOf(report, "relay", RELAY_LIMIT, "report.relay") };
  const after = own(report, "withdrawnAfterMs");
  if (after === undefined) return relay;
  // -1: never.
  const isNever = after === -1;
  const place = "report.withdrawnAfterMs";
  return { ...relay, withdrawnAfterMs: isNever ? -1 : wholeUpTo(report, "withdrawnAfterMs", SPAN_LIMIT_MS, place) };
}

function preloadOf(report: Fields): Pick<DrainReport, "preload"> {
  if (own(report, "preload") === undefined) return {};
  const fields = fieldsOf(own(report, "preload"), "report.preload");
  const connections =
    own(fields, "connections") === -1
      ? -1
      : wholeUpTo(fields, "connections", LEFT_TOTAL_LIMIT, "report.preload.connections");
  const processes = wholeUpTo(fields, "processes", LEFT_TOTAL_LIMIT, "report.preload.processes");
  if (own(fields, "missed") === undefined) return { preload: { processes, connections } };
  const missed = wholeUpTo(fields, "missed", LEFT_TOTAL_LIMIT, "report.preload.missed");
  return { preload: { processes, missed, connections } };
}

function durationsOf(fields: Fields): PhaseDurations {
  const [withdrawing, deregistration, draining, holding] = PHASE_DURATIONS.map((phase) =>
    wholeUpTo(fields, phase, SPAN_LIMIT_MS, `report.milliseconds.${phase}`),
  );
  return {
    withdrawing: withdrawing ?? 0,
    deregistration: deregistration ?? 0,
    draining: draining ?? 0,
    holding: holding ?? 0,
  };
}

function connectionsOf(value: unknown): readonly OpenConnection[] {
  if (!Array.isArray(value)) throw refusal("report.left", value, "a list");
  if (value.length > LEFT_LIMIT) {
    throw new Refusal(`report.left: has ${value.length} entries; at most ${LEFT_LIMIT} are taken.`);
  }
  return value.map((entry: unknown, at) => {
    const place = `report.left[${at}]`;
    const fields = fieldsOf(entry, place);
    return {
      local: textOf(fields, "local", ADDRESS_LIMIT, `${place}.local`),
      peer: textOf(fields, "peer", ADDRESS_LIMIT, `${place}.peer`),
      ageMs: wholeUpTo(fields, "ageMs", SPAN_LIMIT_MS, `${place}.ageMs`),
      state: textOf(fields, "state", WORD_LIMIT, `${place}.state`),
    };
  });
}

/** Own fields only: no notice inherits an answer. */
function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function fieldsOf(value: unknown, place: string): Fields {
  if (!isFields(value)) throw refusal(place, value, "an object");
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matching(fields: Fields, key: string, pattern: RegExp, wanted: string): string {
  const value = own(fields, key);
  // Longer than anything right: not handed to the pattern at all.
  if (typeof value === "string" && value.length <= 253 && pattern.test(value)) return value;
  throw refusal(key, value, wanted);
}

function oneOf<T extends string>(fields: Fields, key: string, words: readonly T[]): T {
  const value = own(fields, key);
  const known = words.find((word) => word === value);
  if (known === undefined) throw refusal(`report.${key}`, value, `one of ${words.join(", ")}`);
  return known;
}

function textOf(fields: Fields, key: string, limit: number, place: string): string {
  const value = own(fields, key);
  if (typeof value !== "string") throw refusal(place, value, "text");
  return plainText(value, limit);
}

/** Fractions and the sign of a zero are rounded away. */
function wholeUpTo(fields: Fields, key: string, limit: number, place: string): number {
  const value = own(fields, key);
  if (typeof value === "number" && value >= 0 && value <= limit) return Math.abs(Math.round(value));
  throw refusal(place, value, `a number from 0 to ${limit}`);
}

function refusal(place: string, value: unknown, wanted: string): Refusal {
  return new Refusal(`${place}: ${inWords(value)} is not ${wanted}.`);
}

function inWords(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return `"${plainText(value, ECHO_LIMIT)}"`;
  if (typeof value === "object") return Array.isArray(value) ? "a list" : value === null ? "null" : "an object";
  return plainText(String(value), ECHO_LIMIT);
}
