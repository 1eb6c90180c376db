/** The manager's relay client, which writes what ran between its first status and its second into the file it is given. */
import { writeFileSync } from "node:fs";
import { processOutside } from "../../src/manager/process-outside.ts";
import { runManager } from "../../src/manager/program.ts";
import { startCoverage } from "./executed-files.ts";

const [, , file = "", ...words] = process.argv;
const none = (): number => -1;
const outside = processOutside({
  libc: { ...{ available: false, socket: none, send: none, recv: none }, connect: none, setsockopt: none, close: none },
  portGuard: { prepare: () => true, attach: () => undefined, admits: () => true, closed: () => 0 },
  flagPage: { open: () => 0, close: () => undefined, given: () => 0, missed: () => 0 },
  self: [],
  onIdle: () => undefined,
});
let end: (() => readonly string[]) | undefined;
const log = (line: string): void => {
  outside.log(line);
  if (!line.startsWith("said ")) return;
  if (end !== undefined) writeFileSync(file, JSON.stringify(end()));
  end = startCoverage();
};
runManager(words, { ...outside, log }, () => undefined);
