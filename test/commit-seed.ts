/**
 * Sets the seed of random values before the tests. Each commit has its own seed, so that many inputs are tested over time and
 * unchanged code never fails by chance. `LASTCALL_SEED=7 npm test` uses another one.
 */
import { spawnSync } from "node:child_process";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    seed: number;
  }
}

/** The number of hexadecimal digits that fit into a seed, which is a signed 32-bit integer. */
const DIGITS = 7;

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default function setup(project: TestProject): void {
  const asked = process.env["LASTCALL_SEED"];
  const seed = asked === undefined ? ofCommit() : Number(asked);
  if (!Number.isSafeInteger(seed)) throw new Error(`LASTCALL_SEED=${asked}: not a whole number`);
  process.stdout.write(`random values are of seed ${seed}\n`);
  project.provide("seed", seed);
}

/** The seed of a source tree without history. */
function ofCommit(): number {
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" });
  const seed = Number.parseInt((stdout ?? "").slice(0, DIGITS), 16);
  return Number.isNaN(seed) ? 1 : seed;
}
