/** `npm run check`: types, format and lint, generated files. Runs all, names every failure, then fails. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "node_modules/.bin");

const CHECKS: readonly { readonly name: string; readonly command: string; readonly args: readonly string[] }[] = [
  { name: "types", command: join(BIN, "tsc"), args: ["--noEmit"] },
  { name: "format and lint", command: join(BIN, "biome"), args: ["check", "--error-on-warnings"] },
  { name: "generated files", command: process.execPath, args: ["src/generate/main.ts", "--check"] },
  { name: "architecture", command: join(BIN, "vitest"), args: ["run", "test/architecture"] },
];

const failed = CHECKS.filter(({ name, command, args }) => {
  const { status } = spawnSync(command, [...args], { cwd: ROOT, stdio: "inherit" });
  process.stdout.write(`check ${name}: ${status === 0 ? "ok" : "FAILED"}\n`);
  return status !== 0;
});
if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.map(({ name }) => name).join(", ")}\n`);
  process.exitCode = 1;
}
