/** Implements the commands that call a running manager: `drain` (the manager's own preStop hook) and `status`. */
import { DEFAULT_SETTINGS } from "../contract/drain-settings.ts";
import { EXIT_OK, EXIT_UNREACHABLE, EXIT_USAGE } from "../contract/exit-codes.ts";
import { VARIABLES } from "../contract/manager-environment.ts";
import { parseServeFlags } from "../contract/serve-flags.ts";
import { type CallResult, callManager, type ManagerCall } from "./calls/manager-call.ts";
import type { Platform } from "./platform.ts";

const STATUS_TIMEOUT_MS = 2_000;
/**
 * In a test with a CPU limit of 10m, a busy node and a flooded port, the manager responded after 11 s. The long timeout costs
 * nothing, because a hanging manager holds the app's hook until the end of the grace period anyway.
 */
const DRAIN_TIMEOUT_MS = 30_000;
/** Long enough for a request to reach the backlog of a port on the same host. */
const LATE_DRAIN_TIMEOUT_MS = 500;

/**
 * `drain` requests the status first: a manager that does not send it within 30 s hangs, whereas the response to a drain can take
 * minutes. If no status arrives, `drain` still sends the drain request, which a slow manager reads when it gets CPU time. Without that
 * request, the manager would treat the app's hook as a container restart.
 */
export function runClient(command: "drain" | "status", args: readonly string[], platform: Platform): void {
  const target = targetOf(command, args, platform);
  if (target === undefined) {
    platform.exit(EXIT_USAGE);
    return;
  }
  const { host, port } = target;
  const fail = (result: CallResult): void => {
    platform.printError(`lastcall ${command}: ${failureText(result, host, port)}`);
    platform.exit(result.kind === "responded" ? EXIT_USAGE : EXIT_UNREACHABLE);
  };
  const succeed = (body: string): void => {
    platform.log(body);
    platform.exit(EXIT_OK);
  };
  const path = `/${platform.environment.token}/`;
  const timeoutMs = command === "drain" ? DRAIN_TIMEOUT_MS : STATUS_TIMEOUT_MS;
  const statusCall: ManagerCall = {
    host,
    port,
    method: "GET",
    path: `${path}status`,
    timeoutMs,
    waitsForResponse: false,
  };
  const drainCall: ManagerCall = {
    host,
    port,
    method: "POST",
    path: `${path}drain`,
    timeoutMs,
    waitsForResponse: true,
  };
  const onDrained = (result: CallResult): void => {
    if (result.kind === "responded" && result.status === 200) succeed(result.body);
    else fail(result);
  };
  const lateDrainCall: ManagerCall = {
    host,
    port,
    method: "POST",
    path: drainCall.path,
    timeoutMs: LATE_DRAIN_TIMEOUT_MS,
    waitsForResponse: false,
  };
  callManager(statusCall, platform.nowMs, (result) => {
    if (command === "drain" && result.kind === "no-response") {
      callManager(lateDrainCall, platform.nowMs, (lateResult) => {
        if (lateResult.kind === "responded" && lateResult.status === 200) succeed(lateResult.body);
        else fail(result);
      });
    } else if (result.kind !== "responded" || result.status !== 200) fail(result);
    else if (command === "status") succeed(result.body);
    else callManager(drainCall, platform.nowMs, onDrained);
  });
}

type Target = { readonly host: string; readonly port: number };

function targetOf(command: string, args: readonly string[], platform: Platform): Target | undefined {
  const problems: string[] = [];
  for (const arg of args) {
    if (!/^--(port|address-scope)(=|$)/.test(arg))
      problems.push(`unknown flag ${arg.split("=")[0] ?? ""}; expected one of --port --address-scope`);
  }
  const knownFlags = args.filter((arg) => /^--(port|address-scope)(=|$)/.test(arg));
  const parsed = parseServeFlags(knownFlags);
  for (const problem of parsed.problems) problems.push(problem.message);
  if (!isToken(platform.environment.token)) problems.push(TOKEN_PROBLEM);
  for (const problem of problems) platform.printError(`lastcall ${command}: ${problem}`);
  if (problems.length > 0) return undefined;
  const { port, addressScope } = parsed.settings;
  return { host: addressScope === DEFAULT_SETTINGS.addressScope ? "127.0.0.1" : addressScope, port };
}

function failureText(result: CallResult, host: string, port: number): string {
  if (result.kind === "responded")
    return `the manager at ${host}:${port} has a different ${VARIABLES.token} than this command`;
  if (result.kind === "no-response")
    return `the manager at ${host}:${port} exited, hangs or has a different ${VARIABLES.token} than this command: ${result.message}`;
  return `no manager listens on ${host}:${port}: ${result.message}`;
}

export const TOKEN_PROBLEM = `${VARIABLES.token} is not set or invalid. Set 1 to 128 letters, digits, - and _`;

/** Allows only characters that do not have to be escaped, because the token is a path segment. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}
