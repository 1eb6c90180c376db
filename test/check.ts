/**
 * `npm run check`: types, format and lint, generated files, architecture, commit subjects, native build. Runs all checks
 * and lists the failures. `npm run format` applies the fixes of the linter.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { countsText } from "./counts.ts";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "node_modules/.bin");
/** In Biome's package for this platform. Biome's main package lists platforms that some registries lack; `npm ci` would fail. */
const BIOME = join(ROOT, `node_modules/@biomejs/cli-linux-${process.arch}/biome`);

type Check = { readonly name: string; readonly command: string; readonly args: readonly string[] };

const CHECKS: readonly Check[] = [
  { name: "types", command: join(BIN, "tsc"), args: ["--noEmit"] },
  { name: "format and lint", command: BIOME, args: ["check", "--error-on-warnings"] },
  { name: "generated files", command: process.execPath, args: ["src/generate/main.ts", "--check"] },
  { name: "architecture", command: join(BIN, "vitest"), args: ["run", "test/architecture"] },
  { name: "commit subjects", command: process.execPath, args: ["test/commit-subjects.ts"] },
  { name: "native coverage", command: process.execPath, args: ["test/native/coverage.ts"] },
  { name: "native build is reproducible", command: process.execPath, args: ["test/native/reproducible.ts"] },
];

const REPAIR: readonly Check[] = [{ name: "format", command: BIOME, args: ["check", "--write"] }];

const failed = (process.argv.includes("--fix") ? REPAIR : CHECKS).filter(({ name, command, args }) => {
  const { status, error } = spawnSync(command, [...args], { cwd: ROOT, stdio: "inherit" });
  if (error !== undefined) process.stderr.write(`${error.message}\n`);
  process.stdout.write(`check ${name}: ${status === 0 ? "ok" : "FAILED"}\n`);
  return status !== 0;
});
process.stdout.write(`${countsText()}\n`);
if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.map(({ name }) => name).join(", ")}\n`);
  process.exitCode = 1;
}
