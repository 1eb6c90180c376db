/** Implements the manager's command line: `serve`, `drain`, `status`, `relay-client`, `version`. */
import { EXIT_OK, EXIT_USAGE } from "../contract/exit-codes.ts";
import { parseServeFlags } from "../contract/serve-flags.ts";
import { VERSION } from "../contract/version.ts";
import { isToken, runClient, TOKEN_PROBLEM } from "./client-command.ts";
import type { Platform } from "./platform.ts";
import { runRelay } from "./relay/relay-command.ts";
import { serve } from "./serve.ts";

const USAGE = `usage: /lastcall serve [--port=17890] [--drain-delay=5s] ...   run as shutdown manager
       /lastcall drain [--port=17890]     start the drain and wait for its end (the manager's preStop hook)
       /lastcall status [--port=17890]    print the report of the drain as JSON
       /lastcall relay-client             run the relay client during a drain (started by serve)
       /lastcall version                  print the version
The token is read from LASTCALL_TOKEN; --address-scope=IP names the address of a Pod that shares its network.`;

export function runManager(args: readonly string[], platform: Platform, onSignals: (onStop: () => void) => void): void {
  const command = args[0] ?? "";
  const rest = args.slice(1);
  if (command === "serve") runServe(rest, platform, onSignals);
  else if (command === "drain" || command === "status") runClient(command, rest, platform);
  else if (command === "relay-client") runRelay(platform);
  else if (command === "version") {
    platform.log(`lastcall-manager ${VERSION}`);
    platform.exit(EXIT_OK);
  } else {
    platform.printError(refusal(command));
    platform.exit(EXIT_USAGE);
  }
}

function refusal(command: string): string {
  if (command === "") return USAGE;
  return `lastcall: unknown command ${command}\n${USAGE}`;
}

function runServe(args: readonly string[], platform: Platform, onSignals: (onStop: () => void) => void): void {
  const parsed = parseServeFlags(args);
  const problems = parsed.problems.map((problem) => problem.message);
  if (!isToken(platform.environment.token)) problems.push(TOKEN_PROBLEM);
  for (const problem of problems) platform.printError(`lastcall serve: ${problem}`);
  if (problems.length > 0) {
    platform.exit(EXIT_USAGE);
    return;
  }
  const manager = serve(parsed.settings, platform);
  onSignals(manager.onStopSignal);
}
