/** Keeps the results of the cases in one file of build/e2e, from which `npm run table:gateways` writes the guides' tables. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../build/e2e");

export type ResultsFile<Result> = {
  readonly read: () => readonly Result[];
  /** Replaces the earlier result of the same measurement. */
  readonly record: (result: Result) => void;
};

/** @param keyOf returns the key of the measurement */
export function resultsFile<Result>(name: string, keyOf: (result: Result) => string): ResultsFile<Result> {
  const file = join(FOLDER, name);
  const read = (): readonly Result[] => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);
  return {
    read,
    record: (result) => {
      const results = [...read().filter((other) => keyOf(other) !== keyOf(result)), result];
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
    },
  };
}
