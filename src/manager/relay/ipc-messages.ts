/** Formats and parses the lines that manager and relay client exchange, and parses the relay's untrusted status lines. Pure. */
import type { EndpointState } from "../drain/drain-state.ts";
import { depthOf, isRecord } from "../json-reader.ts";

export type ClientMessage =
  /** The relay client is about to open a connection, which must not count as traffic. */
  | { readonly kind: "dial" }
  | { readonly kind: "status"; readonly status: WithdrawalStatus }
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "delivered" }
  | { readonly kind: "undelivered"; readonly reason: string };

export type ClientCommand =
  /** The drain has started. Its drain delay ends in `inMs` milliseconds; then the drain waits only for the withdrawal. */
  | { readonly kind: "drain-delay"; readonly inMs: number }
  /** The relay client closes its connections, but keeps running to deliver the report. */
  | { readonly kind: "disconnect" }
  /** The report of a running drain. The relay client sends it once, and keeps its connections. */
  | { readonly kind: "progress"; readonly report: string }
  | { readonly kind: "report"; readonly report: string };

export const CLIENT_LINE_LIMIT_BYTES = 16_384;

export function formatMessage(message: ClientMessage): string {
  switch (message.kind) {
    case "status":
      return `status ${formatWithdrawalStatus(message.status)}`;
    case "lost":
      return `lost ${shortReason(message.reason)}`;
    case "undelivered":
      return `undelivered ${shortReason(message.reason)}`;
    default:
      return message.kind;
  }
}

export function parseMessage(line: string): ClientMessage | undefined {
  const rest = restOf(line);
  switch (kindOf(line)) {
    case "dial":
      return { kind: "dial" };
    case "status": {
      const status = parseWithdrawalStatus(rest);
      return status === undefined ? undefined : { kind: "status", status };
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

export function formatCommand(command: ClientCommand): string {
  switch (command.kind) {
    case "drain-delay":
      return `drain-delay ${Math.max(0, Math.round(command.inMs))}`;
    case "progress":
      return `progress ${command.report}`;
    case "report":
      return `report ${command.report}`;
    default:
      return command.kind;
  }
}

export function parseCommand(line: string): ClientCommand | undefined {
  const rest = restOf(line);
  switch (kindOf(line)) {
    case "drain-delay":
      return /^[0-9]{1,10}$/.test(rest) ? { kind: "drain-delay", inMs: Number(rest) } : undefined;
    case "disconnect":
      return { kind: "disconnect" };
    case "progress":
      return { kind: "progress", report: rest };
    case "report":
      return { kind: "report", report: rest };
    default:
      return undefined;
  }
}

function kindOf(line: string): string {
  const separatorAt = line.indexOf(" ");
  return separatorAt < 0 ? line : line.slice(0, separatorAt);
}

function restOf(line: string): string {
  const separatorAt = line.indexOf(" ");
  return separatorAt < 0 ? "" : line.slice(separatorAt + 1);
}

/** The relay's last status line about the Pod. The state `unknown` can also be from the relay client or the manager. */
export type WithdrawalStatus = {
  readonly endpointState: EndpointState;
  readonly terminating: boolean;
  /** Printable ASCII, at most 120 characters. */
  readonly reason: string;
  /** -1 if the relay did not send it. */
  readonly graceSeconds: number;
  /** Whether the workload's last Pods stopped without the reset of a connection. */
  readonly isGraceful: boolean;
};

const DEPTH_LIMIT = 4;
const REASON_LIMIT_CHARACTERS = 120;
const SECONDS_LIMIT = 1_000_000_000;

export function unknownStatus(reason: string): WithdrawalStatus {
  return {
    endpointState: "unknown",
    terminating: false,
    reason: shortReason(reason),
    graceSeconds: -1,
    isGraceful: false,
  };
}

export function parseWithdrawalStatus(line: string): WithdrawalStatus | undefined {
  if (depthOf(line) > DEPTH_LIMIT) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const endpointState = endpointStateOf(value["state"]);
  const terminating = value["terminating"];
  const reason = value["reason"];
  if (endpointState === undefined || typeof terminating !== "boolean" || typeof reason !== "string") return undefined;
  const graceSeconds = wholeNumber(value["graceSeconds"]);
  const isGraceful = value["shutdown"] === "graceful";
  return { endpointState, terminating, reason: shortReason(reason), graceSeconds, isGraceful };
}

export function formatWithdrawalStatus(status: WithdrawalStatus): string {
  return JSON.stringify({
    state: status.endpointState,
    terminating: status.terminating,
    reason: status.reason,
    graceSeconds: status.graceSeconds,
    shutdown: status.isGraceful ? "graceful" : "",
  });
}

export function isSameStatus(one: WithdrawalStatus, other: WithdrawalStatus): boolean {
  return formatWithdrawalStatus(one) === formatWithdrawalStatus(other);
}

/** Truncates a text to 120 characters, and replaces all characters except printable ASCII by spaces. */
export function shortReason(text: string): string {
  return text
    .slice(0, REASON_LIMIT_CHARACTERS)
    .split(/[^\x21-\x7e]+/)
    .join(" ")
    .trim();
}

function endpointStateOf(value: unknown): EndpointState | undefined {
  if (value === "in") return "in";
  if (value === "out") return "out";
  return value === "unknown" ? "unknown" : undefined;
}

function wholeNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return -1;
  return value >= 0 && value <= SECONDS_LIMIT && Math.floor(value) === value ? value : -1;
}
