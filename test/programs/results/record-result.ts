/** Keeps what cases measured: one JSON line each, in `build/programs/results.json`, the last of each name. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OtherResult } from "./program-result.ts";
import { withResult } from "./result-lines.ts";

export const RESULTS_FILE = join(import.meta.dirname, "../../../build/programs/results.json");

let last: Promise<void> = Promise.resolve();

/** One after the other, however many cases end at once; files of cases never run at the same time. */
export function recordResult(result: OtherResult): Promise<void> {
  last = last.then(() => write(result));
  return last;
}

async function write(result: OtherResult): Promise<void> {
  await mkdir(dirname(RESULTS_FILE), { recursive: true });
  const before = await readFile(RESULTS_FILE, "utf8").catch(() => "");
  await writeFile(RESULTS_FILE, withResult(before, result));
}
