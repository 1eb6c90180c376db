/** The manager's relay client, which writes what ran between its first status and its second into the file it is given. */
import { writeFileSync } from "node:fs";
import { processPlatform } from "../../src/manager/process-platform.ts";
import { runManager } from "../../src/manager/program.ts";
import { startCoverage } from "./executed-files.ts";
import { BARE_BUILD } from "./walked-manager.ts";

const [, , file = "", ...words] = process.argv;
const outside = processPlatform({ ...BARE_BUILD, self: [] });
let end: (() => readonly string[]) | undefined;
const log = (line: string): void => {
  outside.log(line);
  if (!line.startsWith("status ")) return;
  if (end !== undefined) writeFileSync(file, JSON.stringify(end()));
  end = startCoverage();
};
runManager(words, { ...outside, log }, () => undefined);
