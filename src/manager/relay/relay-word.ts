/** One line of the relay's answer, read as what anybody might have written. Pure. */
import type { Offered } from "../drain/drain-state.ts";
import { depthOf } from "../json-depth.ts";
import { isRecord } from "../json-record.ts";

/** What the relay knows of the Pod. */
export type RelayWord = {
  readonly offered: Offered;
  readonly terminating: boolean;
  readonly services: number;
  /** Printable, and a few words long; why, where `offered` is unknown. */
  readonly reason: string;
  /** The Pod's real grace period in seconds; -1 when the relay may not know it. */
  readonly graceSeconds: number;
};

const DEEPEST = 4;
const LONGEST_REASON = 120;
/** More Services or seconds than anybody has. */
const MOST = 1_000_000_000;

export function unknownWord(reason: string): RelayWord {
  return { offered: "unknown", terminating: false, services: 0, reason: shortReason(reason), graceSeconds: -1 };
}

/** @returns undefined for a line that the relay would not write */
export function parseRelayWord(line: string): RelayWord | undefined {
  if (depthOf(line) > DEEPEST) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const offered = offeredOf(value["state"]);
  const terminating = value["terminating"];
  const services = wholeNumber(value["services"]);
  const reason = value["reason"];
  if (offered === undefined || typeof terminating !== "boolean" || services < 0 || typeof reason !== "string")
    return undefined;
  const graceSeconds = wholeNumber(value["graceSeconds"]);
  return { offered, terminating, services, reason: shortReason(reason), graceSeconds };
}

export function formatRelayWord(word: RelayWord): string {
  return JSON.stringify({
    state: word.offered,
    terminating: word.terminating,
    services: word.services,
    reason: word.reason,
    graceSeconds: word.graceSeconds,
  });
}

export function sameWord(one: RelayWord, other: RelayWord): boolean {
  return formatRelayWord(one) === formatRelayWord(other);
}

/** One line of printable characters. */
export function shortReason(text: string): string {
  return text
    .slice(0, LONGEST_REASON)
    .split(/[^\x21-\x7e]+/)
    .join(" ")
    .trim();
}

function offeredOf(value: unknown): Offered | undefined {
  if (value === "in") return "in";
  if (value === "out") return "out";
  return value === "unknown" ? "unknown" : undefined;
}

/** -1 for what is no whole number from 0 on. */
function wholeNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return -1;
  return value >= 0 && value <= MOST && Math.floor(value) === value ? value : -1;
}
