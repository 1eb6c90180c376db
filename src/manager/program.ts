/** The manager's command line: `serve`, `drain`, `status`, `relay`, `version`. The mains only bring the outside world. */
import { EXIT_OK, EXIT_USAGE } from "../contract/exit-codes.ts";
import { parseServeFlags } from "../contract/serve-flags.ts";
import { VERSION } from "../contract/version.ts";
import { isToken, runClient, TOKEN_PROBLEM } from "./client-command.ts";
import type { Outside } from "./outside.ts";
import { runRelay } from "./relay/relay-command.ts";
import { serve } from "./serve.ts";

const USAGE = `usage: lastcall serve [--port=17890] [--drain-delay=5s] ...   run as shutdown manager
       lastcall drain [--port=17890]     start the drain and wait for its end (the manager's preStop hook)
       lastcall status [--port=17890]    print the report of the drain as JSON
       lastcall relay                    ask the relay during a drain (started by serve, which talks with it)
       lastcall version                  print the version
The token is read from LASTCALL_TOKEN; --address-scope=IP names the address of a Pod that shares its network.`;

/** @param onSignals registers what a stop signal does; only `serve` has a use for it */
export function runManager(args: readonly string[], outside: Outside, onSignals: (onStop: () => void) => void): void {
  const command = args[0] ?? "";
  const rest = args.slice(1);
  if (command === "serve") runServe(rest, outside, onSignals);
  else if (command === "drain" || command === "status") runClient(command, rest, outside);
  else if (command === "relay") runRelay(outside);
  else if (command === "version") {
    outside.log(`lastcall-manager ${VERSION}`);
    outside.exit(EXIT_OK);
  } else {
    outside.complain(refusal(command));
    outside.exit(EXIT_USAGE);
  }
}

function refusal(command: string): string {
  if (command === "") return USAGE;
  return `lastcall: there is no command ${command}\n${USAGE}`;
}

function runServe(args: readonly string[], outside: Outside, onSignals: (onStop: () => void) => void): void {
  const parsed = parseServeFlags(args);
  const problems = parsed.problems.map((problem) => problem.message);
  if (!isToken(outside.environment.token)) problems.push(TOKEN_PROBLEM);
  for (const problem of problems) outside.complain(`lastcall serve: ${problem}`);
  if (problems.length > 0) {
    outside.exit(EXIT_USAGE);
    return;
  }
  const served = serve(parsed.settings, outside);
  onSignals(served.onStopSignal);
}
