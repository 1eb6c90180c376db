#!/usr/bin/env node
/** The `lastcall` program: loads only the modules of its command. */

/** @returns the exit status when all work has ended */
type Main = (args: readonly string[]) => Promise<number>;

/** Commands that parse their own flags. */
const OWN_FLAGS: readonly string[] = ["webhook", "self-test", "demo", "relay-thread"];

async function mainOf(command: string | undefined): Promise<Main> {
  if (command === "webhook") return (await import("./webhook/main.ts")).main;
  // Not for users: the webhook runs this command in a worker thread.
  if (command === "relay-thread") return (await import("./relay/thread/thread-main.ts")).main;
  if (command === "self-test") return (await import("./webhook/self-test/main.ts")).main;
  if (command === "demo") return (await import("./demo/main.ts")).main;
  return (await import("./cli/main.ts")).main;
}

const [command, ...rest] = process.argv.slice(2);
const main = await mainOf(command);
// process.exit() would discard output that a pipe has not accepted yet.
process.exitCode = await main(OWN_FLAGS.includes(command ?? "") ? rest : process.argv.slice(2));
