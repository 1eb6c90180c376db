/** The commands that talk to a running manager: `drain` (the manager's own preStop hook) and `status`. */
import { DEFAULT_SETTINGS } from "../contract/drain-settings.ts";
import { EXIT_OK, EXIT_UNREACHABLE, EXIT_USAGE } from "../contract/exit-codes.ts";
import { VARIABLES } from "../contract/manager-environment.ts";
import { parseServeFlags } from "../contract/serve-flags.ts";
import { type CallEnd, callManager, type ManagerCall } from "./calls/manager-call.ts";
import type { Outside } from "./outside.ts";

const STATUS_PATIENCE_MS = 2_000;
/**
 * A manager with a CPU limit of 10m on a busy node answered 11 s after its hook started while unauthenticated clients crowded
 * its port. A longer wait costs nothing: a manager that hangs holds the app's own hook until the grace period is over.
 */
const DRAIN_PATIENCE_MS = 30_000;
/** To reach a backlog of the same machine. */
const LAST_WORD_MS = 500;

/**
 * `drain` first asks for the status: a manager that hangs is found within 30 s, while one that holds a drain may be silent
 * for minutes. One that is only starved finds the drain in its backlog when it runs again: without it, the app's hook alone
 * would be taken for a restart and released.
 */
export function runClient(command: "drain" | "status", args: readonly string[], outside: Outside): void {
  const target = targetOf(command, args, outside);
  if (target === undefined) {
    outside.exit(EXIT_USAGE);
    return;
  }
  const { host, port } = target;
  const fail = (end: CallEnd): void => {
    outside.complain(`lastcall ${command}: ${failure(end, host, port)}`);
    outside.exit(end.kind === "answered" ? EXIT_USAGE : EXIT_UNREACHABLE);
  };
  const succeed = (body: string): void => {
    outside.log(body);
    outside.exit(EXIT_OK);
  };
  const path = `/${outside.environment.token}/`;
  const withinMs = command === "drain" ? DRAIN_PATIENCE_MS : STATUS_PATIENCE_MS;
  const ask: ManagerCall = { host, port, method: "GET", path: `${path}status`, withinMs, waits: false };
  const drain: ManagerCall = { host, port, method: "POST", path: `${path}drain`, withinMs, waits: true };
  const takeDrain = (end: CallEnd): void => {
    if (end.kind === "answered" && end.status === 200) succeed(end.body);
    else fail(end);
  };
  const lastWord: ManagerCall = { host, port, method: "POST", path: drain.path, withinMs: LAST_WORD_MS, waits: false };
  callManager(ask, outside.nowMs, (end) => {
    if (command === "drain" && end.kind === "left") {
      callManager(lastWord, outside.nowMs, (late) => {
        if (late.kind === "answered" && late.status === 200) succeed(late.body);
        else fail(end);
      });
    } else if (end.kind !== "answered" || end.status !== 200) fail(end);
    else if (command === "status") succeed(end.body);
    else callManager(drain, outside.nowMs, takeDrain);
  });
}

type Target = { readonly host: string; readonly port: number };

function targetOf(command: string, args: readonly string[], outside: Outside): Target | undefined {
  const problems: string[] = [];
  for (const arg of args) {
    if (!/^--(port|address-scope)(=|$)/.test(arg))
      problems.push(`unknown flag ${arg.split("=")[0] ?? ""}; known are --port --address-scope`);
  }
  const known = args.filter((arg) => /^--(port|address-scope)(=|$)/.test(arg));
  const parsed = parseServeFlags(known);
  for (const problem of parsed.problems) problems.push(problem.message);
  if (!isToken(outside.environment.token)) problems.push(TOKEN_PROBLEM);
  for (const problem of problems) outside.complain(`lastcall ${command}: ${problem}`);
  if (problems.length > 0) return undefined;
  const { port, addressScope } = parsed.settings;
  return { host: addressScope === DEFAULT_SETTINGS.addressScope ? "127.0.0.1" : addressScope, port };
}

function failure(end: CallEnd, host: string, port: number): string {
  if (end.kind === "answered") return `the manager at ${host}:${port} does not know this ${VARIABLES.token}`;
  if (end.kind === "left")
    return `the manager at ${host}:${port} is gone, hangs or has another ${VARIABLES.token}: ${end.message}`;
  return `no manager answers at ${host}:${port}: ${end.message}`;
}

export const TOKEN_PROBLEM = `${VARIABLES.token} must be set, of letters, digits, - and _ (at most 128)`;

/** The token is a path segment and a line of the request; nothing else may be in it. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}
