/**
 * What the manager and its relay client, a process of its own, say to each other, one line each; and what the relay says of
 * the Pod, read as if a stranger had written it. Pure.
 */
import type { Offered } from "../drain/drain-state.ts";
import { depthOf, isRecord } from "../json-reader.ts";

/** From the client to the manager. */
export type ClientNews =
  /** A connection is about to be opened: it is not to be taken for traffic. */
  | { readonly kind: "dials" }
  | { readonly kind: "said"; readonly word: WithdrawalStatus }
  /** What was said last is not vouched for any more. */
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "delivered" }
  | { readonly kind: "undelivered"; readonly reason: string };

/** From the manager to the client. */
export type ClientOrder =
  /** The drain has begun; its delay is over in so many milliseconds, and then it waits for the relay's word alone. */
  | { readonly kind: "floor"; readonly inMs: number }
  /** Nothing more is to be asked. */
  | { readonly kind: "rest" }
  /** The drain is over. `report` is its JSON. */
  | { readonly kind: "report"; readonly report: string };

/** A report and its envelope fit the relay's limit; so does every line. */
export const CLIENT_LINE_LIMIT_BYTES = 16_384;

export function formatNews(news: ClientNews): string {
  switch (news.kind) {
    case "said":
      return `said ${formatWithdrawalStatus(news.word)}`;
    case "lost":
      return `lost ${shortReason(news.reason)}`;
    case "undelivered":
      return `undelivered ${shortReason(news.reason)}`;
    default:
      return news.kind;
  }
}

/** @returns undefined for what no client writes */
export function parseNews(line: string): ClientNews | undefined {
  const rest = restOf(line);
  switch (wordOf(line)) {
    case "dials":
      return { kind: "dials" };
    case "said": {
      const word = parseWithdrawalStatus(rest);
      return word === undefined ? undefined : { kind: "said", word };
    }
    case "lost":
      return { kind: "lost", reason: shortReason(rest) };
    case "delivered":
      return { kind: "delivered" };
    case "undelivered":
      return { kind: "undelivered", reason: shortReason(rest) };
    default:
      return undefined;
  }
}

export function formatOrder(order: ClientOrder): string {
  switch (order.kind) {
    case "floor":
      return `floor ${Math.max(0, Math.round(order.inMs))}`;
    case "report":
      return `report ${order.report}`;
    default:
      return order.kind;
  }
}

export function parseOrder(line: string): ClientOrder | undefined {
  const rest = restOf(line);
  switch (wordOf(line)) {
    case "floor":
      return /^[0-9]{1,10}$/.test(rest) ? { kind: "floor", inMs: Number(rest) } : undefined;
    case "rest":
      return { kind: "rest" };
    case "report":
      return { kind: "report", report: rest };
    default:
      return undefined;
  }
}

function wordOf(line: string): string {
  const cut = line.indexOf(" ");
  return cut < 0 ? line : line.slice(0, cut);
}

function restOf(line: string): string {
  const cut = line.indexOf(" ");
  return cut < 0 ? "" : line.slice(cut + 1);
}

/** What the relay knows of the Pod. */
export type WithdrawalStatus = {
  readonly offered: Offered;
  readonly terminating: boolean;
  /** Printable, and a few words long; why, where `offered` is unknown. */
  readonly reason: string;
  /** The Pod's real grace period in seconds; -1 when the relay may not know it. */
  readonly graceSeconds: number;
};

const DEEPEST = 4;
const LONGEST_REASON = 120;
/** More seconds than any grace period has. */
const MOST = 1_000_000_000;

export function unknownStatus(reason: string): WithdrawalStatus {
  return { offered: "unknown", terminating: false, reason: shortReason(reason), graceSeconds: -1 };
}

/** @returns undefined for a line that the relay would not write */
export function parseWithdrawalStatus(line: string): WithdrawalStatus | undefined {
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
  const reason = value["reason"];
  if (offered === undefined || typeof terminating !== "boolean" || typeof reason !== "string") return undefined;
  const graceSeconds = wholeNumber(value["graceSeconds"]);
  return { offered, terminating, reason: shortReason(reason), graceSeconds };
}

export function formatWithdrawalStatus(word: WithdrawalStatus): string {
  return JSON.stringify({
    state: word.offered,
    terminating: word.terminating,
    reason: word.reason,
    graceSeconds: word.graceSeconds,
  });
}

export function sameStatus(one: WithdrawalStatus, other: WithdrawalStatus): boolean {
  return formatWithdrawalStatus(one) === formatWithdrawalStatus(other);
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
