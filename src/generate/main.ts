/** `npm run generate` writes the generated files; with `--check` it only says which are not current. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GENERATED_FILES } from "./generated-files.ts";

const ROOT = join(import.meta.dirname, "../..");
const checkOnly = process.argv.includes("--check");
const stale: string[] = [];

for (const file of GENERATED_FILES) {
  const path = join(ROOT, file.path);
  const current = readIfThere(path);
  const wanted = file.render(current);
  if (current === wanted) continue;
  stale.push(file.path);
  if (!checkOnly) writeFileSync(path, wanted);
}

if (checkOnly && stale.length > 0) {
  process.stderr.write(`not current: ${stale.join(", ")}; run: npm run generate\n`);
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
