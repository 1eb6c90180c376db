/** Records results in `build/programs/results.json`: one JSON line for each case, from its last run. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OtherResult } from "./program-result.ts";

export const RESULTS_FILE = join(import.meta.dirname, "../../../build/programs/results.json");

let lastWrite: Promise<void> = Promise.resolve();

/** Serializes the writes of concurrent cases; test files never run at the same time. */
export function recordResult(result: OtherResult): Promise<void> {
  lastWrite = lastWrite.then(async () => {
    await mkdir(dirname(RESULTS_FILE), { recursive: true });
    const previousText = await readFile(RESULTS_FILE, "utf8").catch(() => "");
    await writeFile(RESULTS_FILE, upsertResult(previousText, result));
  });
  return lastWrite;
}

export function resultLines(text: string): readonly OtherResult[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      try {
        return JSON.parse(line);
      } catch (cause) {
        throw new Error(`line ${index + 1} of the results is not JSON; run npm run test:programs again`, { cause });
      }
    });
}

export function upsertResult(text: string, result: OtherResult): string {
  const results = resultLines(text);
  const index = results.findIndex((recorded) => resultIdentity(recorded) === resultIdentity(result));
  const updatedResults = index < 0 ? [...results, result] : results.with(index, result);
  return updatedResults.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function resultIdentity(result: OtherResult): string {
  return JSON.stringify([result.kind, result.system, "stopSignal" in result ? result.stopSignal : ""]);
}
