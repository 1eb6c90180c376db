/** `npm run generate` writes the generated files; with `--check` it only prints which are not current. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GeneratedFile } from "./generated-section.ts";

const ROOT = join(import.meta.dirname, "../..");
const checkOnly = process.argv.includes("--check");
const stale: string[] = [];

/** The other files are made by modules that load these. */
const { MANAGER_SOURCES } = await import("./manager-settings.ts");
MANAGER_SOURCES.forEach(bringUpToDate);
const { GENERATED_FILES } = await import("./generated-files.ts");
GENERATED_FILES.forEach(bringUpToDate);

function bringUpToDate({ path: name, render }: GeneratedFile): void {
  const path = join(ROOT, name);
  const current = readIfThere(path);
  const wanted = render(current);
  if (current === wanted) return;
  stale.push(name);
  if (!checkOnly) writeFileSync(path, wanted);
}

if (checkOnly && stale.length > 0) {
  process.stderr.write(`not current: ${[...new Set(stale)].join(", ")}; run: npm run generate\n`);
  process.exitCode = 1;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
