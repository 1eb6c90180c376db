/** Counts lines and files of source, tests and test support for `npm run check`, which prints the counts and sets no limit. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

type Count = { readonly files: number; readonly lines: number };

/** Counts TypeScript below these folders, comments and blank lines included. */
function count(folders: readonly string[], isCounted: (file: string) => boolean): Count {
  const texts = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && isCounted(file))
      .map((file) => readFileSync(join(ROOT, folder, file), "utf8")),
  );
  return { files: texts.length, lines: texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0) };
}

const isCase = (file: string): boolean => /\.(test|chart|e2e|program)\.ts$/.test(file);

export function countsText(): string {
  const rows: readonly (readonly [string, Count])[] = [
    ["source", count(["src"], () => true)],
    ["cases", count(["test"], isCase)],
    ["test support", count(["test"], (file) => !isCase(file))],
    ["end to end and benchmarks", count(["e2e", "bench"], () => true)],
  ];
  return rows.map(([what, { files, lines }]) => `${what}: ${lines} lines in ${files} files`).join("; ");
}
