/**
 * Calls every parser of the manager by name, so that the Node and native builds can parse the same bytes. Uses only the plain
 * subset of TypeScript (decision 3).
 */
import { parseDurationMs } from "../../../src/contract/duration.ts";
import { parseServeFlags } from "../../../src/contract/serve-flags.ts";
import { routeOf } from "../../../src/manager/calls/call-route.ts";
import { readChainedHooks } from "../../../src/manager/calls/original-hooks.ts";
import { parseActiveCount } from "../../../src/manager/drivers/http/http-driver.ts";
import { parseHttpTarget } from "../../../src/manager/http/http-target.ts";
import { depthOf } from "../../../src/manager/json-reader.ts";
import { createLineBuffer } from "../../../src/manager/line-buffer.ts";
import { environmentOf } from "../../../src/manager/platform.ts";
import {
  formatCommand,
  formatMessage,
  formatWithdrawalStatus,
  parseCommand,
  parseMessage,
  parseWithdrawalStatus,
} from "../../../src/manager/relay/ipc-messages.ts";
import { readRelaySettings } from "../../../src/manager/relay/relay-settings.ts";
import { canonicalAddress } from "../../../src/manager/sockets/address-text.ts";
import { parseOpens } from "../../../src/manager/sockets/kernel-counters.ts";
import { parsePart, parseTable, type TextSocket } from "../socket-lists.ts";

/** A file of cases identifies a parser by its index in this list. */
export const PARSERS: readonly string[] = [
  "netlink",
  "tcp-table",
  "tcp6-table",
  "snmp",
  "flags",
  "original",
  "count",
  "target",
  "depth",
  "address",
  "route",
  "duration",
  "relay-status",
  "relay-message",
  "relay-command",
  "relay-settings",
  "relay-lines",
];

/**
 * @param extraArgument the parser's argument besides the bytes: received length (netlink), selector (count), method (route)
 * @returns the result as one line
 */
export function callParser(parser: string, bytes: Buffer, extraArgument: string): string {
  if (parser === "netlink") return netlinkText(bytes, Number(extraArgument));
  if (parser === "relay-lines") return linesText(bytes);
  return JSON.stringify(parseText(parser, bytes.toString("utf8"), extraArgument));
}

function netlinkText(bytes: Buffer, length: number): string {
  const { end, sockets } = parsePart(bytes, length);
  return `${end} ${socketsText(sockets)}`;
}

function parseText(parser: string, text: string, extraArgument: string): string {
  switch (parser) {
    case "tcp-table":
      return tableText(text, 2);
    case "tcp6-table":
      return tableText(text, 10);
    case "snmp":
      return JSON.stringify(parseOpens(text));
    case "flags":
      return JSON.stringify(parseServeFlags(text.split("\n")));
    case "original":
      return originalText(text);
    case "count":
      return String(parseActiveCount(text, extraArgument));
    case "target":
      return targetText(text);
    case "depth":
      return String(depthOf(text));
    case "address":
      return canonicalAddress(text);
    case "route":
      return JSON.stringify(routeOf({ method: extraArgument, url: text, isLocal: true }, "t0ken", ["app", "web-1"]));
    case "relay-status":
      return statusText(text);
    case "relay-message":
      return messageText(text);
    case "relay-command":
      return commandText(text);
    case "relay-settings":
      return settingsText(text);
    case "duration":
      return String(parseDurationMs(text) ?? -1);
    default:
      return "there is no such parser";
  }
}

/** Passes the bytes to a line buffer in chunks of seven bytes, and returns the lines. */
function linesText(bytes: Buffer): string {
  const buffer = createLineBuffer(64);
  let text = "";
  for (let at = 0; at < bytes.length; at = at + 7) {
    const lines = buffer.addChunk(bytes.subarray(at, Math.min(bytes.length, at + 7)));
    text = lines === undefined ? `${text} broken` : `${text} [${lines.join("|")}]`;
  }
  return text;
}

function statusText(text: string): string {
  const status = parseWithdrawalStatus(text);
  return status === undefined ? "refused" : formatWithdrawalStatus(status);
}

function messageText(text: string): string {
  const message = parseMessage(text);
  return message === undefined ? "refused" : formatMessage(message);
}

function commandText(text: string): string {
  const command = parseCommand(text);
  return command === undefined ? "refused" : formatCommand(command);
}

/** @param text lines of `NAME=value` */
function settingsText(text: string): string {
  const lines = text.split("\n");
  const environment = environmentOf((name) => {
    for (const line of lines) if (line.startsWith(`${name}=`)) return line.slice(name.length + 1);
    return undefined;
  });
  const { settings, problem } = readRelaySettings(environment);
  if (settings === undefined) return `refused: ${problem}`;
  return `${settings.endpoint.address} ${settings.endpoint.port} ${settings.addresses.join(" ")} ${settings.ca.length}`;
}

function tableText(text: string, family: number): string {
  const sockets = parseTable(text, family);
  return sockets === undefined ? "unknown" : socketsText(sockets);
}

function targetText(text: string): string {
  const target = parseHttpTarget(text);
  return target === undefined ? "refused" : `${target.host} ${target.port} ${target.path} ${target.selector}`;
}

function socketsText(sockets: readonly TextSocket[]): string {
  return JSON.stringify(sockets);
}

function originalText(text: string): string {
  const { hooks, problem } = readChainedHooks(text);
  let line = problem;
  for (const hook of hooks) {
    line =
      hook.kind === "sleep"
        ? `${line} ${hook.container} sleeps ${hook.seconds}`
        : `${line} ${hook.container} gets ${hook.port} ${hook.path} ${JSON.stringify(hook.headers)}`;
  }
  return line;
}
