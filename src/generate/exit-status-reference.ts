/** Exit statuses, from the constants and the comment above each. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { markdownTable } from "./markdown-table.ts";

const CONSTANT = /^\/\*\* (.+) \*\/\nexport const EXIT_\w+ = (\d+);$/gm;

/** @param file below `src` */
export function exitStatusReference(file: string): string {
  const source = readFileSync(join(import.meta.dirname, "..", file), "utf8");
  const rows = [...source.matchAll(CONSTANT)].map(([, meaning = "", status = ""]) => [status, meaning]);
  return markdownTable(["exit status", "means"], rows);
}
