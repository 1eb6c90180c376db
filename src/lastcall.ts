#!/usr/bin/env node
/** The `lastcall` program: finds the room a command lives in and loads nothing else. */

/** Each room's `main` takes the words after its command and answers the exit status once everything is over. */
type Main = (args: readonly string[]) => Promise<number>;

/** Commands whose rooms read their own flags. */
const OWN_ROOMS: readonly string[] = ["webhook", "self-test", "demo", "relay-thread"];

async function roomOf(command: string | undefined): Promise<Main> {
  if (command === "webhook") return (await import("./webhook/main.ts")).main;
  // Not for people: the webhook begins it as a thread.
  if (command === "relay-thread") return (await import("./relay/thread/thread-main.ts")).main;
  if (command === "self-test") return (await import("./webhook/self-test/main.ts")).main;
  if (command === "demo") return (await import("./demo/main.ts")).main;
  return (await import("./cli/main.ts")).main;
}

const [command, ...rest] = process.argv.slice(2);
const main = await roomOf(command);
// Setting the status instead of exiting lets a pipe take everything that was printed.
process.exitCode = await main(OWN_ROOMS.includes(command ?? "") ? rest : process.argv.slice(2));
