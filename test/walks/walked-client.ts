/** The manager's relay client, which writes the files that ran between its first and its second status into a file. */
import { writeFileSync } from "node:fs";
import { processPlatform } from "../../src/manager/process-platform.ts";
import { runManager } from "../../src/manager/program.ts";
import { startCoverage } from "./executed-files.ts";
import { BARE_BUILD } from "./walked-manager.ts";

const [, , file = "", ...args] = process.argv;
const platform = processPlatform({ ...BARE_BUILD, ownCommand: [] });
let end: (() => readonly string[]) | undefined;
const log = (line: string): void => {
  platform.log(line);
  if (!line.startsWith("status ")) return;
  if (end !== undefined) writeFileSync(file, JSON.stringify(end()));
  end = startCoverage();
};
runManager(args, { ...platform, log }, () => undefined);
