/** Keeps what cases measured: one JSON line each, in `build/programs/results.json`, the last of each name. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OtherResult } from "./program-result.ts";
import { withResult } from "./result-lines.ts";

export const RESULTS_FILE = join(import.meta.dirname, "../../../build/programs/results.json");

/** Cases run one at a time, so nobody writes in between. */
export async function recordResult(result: OtherResult): Promise<void> {
  await mkdir(dirname(RESULTS_FILE), { recursive: true });
  const before = await readFile(RESULTS_FILE, "utf8").catch(() => "");
  await writeFile(RESULTS_FILE, withResult(before, result));
}
