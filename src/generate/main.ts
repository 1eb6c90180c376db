/** `npm run generate` writes the generated files; with `--check` it only reports stale ones. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GeneratedFile } from "./generated-section.ts";

const ROOT = join(import.meta.dirname, "../..");
const isCheckOnly = process.argv.includes("--check");
const staleFiles: string[] = [];

/** These files are written first, because the modules that render the other files import them. */
const { MANAGER_SOURCES } = await import("./manager-settings.ts");
MANAGER_SOURCES.forEach(update);
const { GENERATED_FILES } = await import("./generated-files.ts");
GENERATED_FILES.forEach(update);

function update({ path: name, render }: GeneratedFile): void {
  const path = join(ROOT, name);
  const current = readIfExists(path);
  const renderedText = render(current);
  if (current === renderedText) return;
  staleFiles.push(name);
  if (!isCheckOnly) writeFileSync(path, renderedText);
}

if (isCheckOnly && staleFiles.length > 0) {
  process.stderr.write(`Generated files are stale: ${[...new Set(staleFiles)].join(", ")}. Run npm run generate.\n`);
  process.exitCode = 1;
}

function readIfExists(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
