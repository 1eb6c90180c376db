/** Runs the manager's relay client. Lists the source files of which code was executed between the first and the second status that it received. */
import { writeFileSync } from "node:fs";
import { processPlatform } from "../../src/manager/process-platform.ts";
import { runManager } from "../../src/manager/program.ts";
import { startCoverage } from "./executed-files.ts";
import { MINIMAL_BUILD } from "./walked-manager.ts";

const [, , file = "", ...args] = process.argv;
const platform = processPlatform({ ...MINIMAL_BUILD, ownCommand: [] });
let stopCoverage: (() => readonly string[]) | undefined;
const log = (line: string): void => {
  platform.log(line);
  if (!line.startsWith("status ")) return;
  if (stopCoverage !== undefined) writeFileSync(file, JSON.stringify(stopCoverage()));
  stopCoverage = startCoverage();
};
runManager(args, { ...platform, log }, () => undefined);
