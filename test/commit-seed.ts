/**
 * Before the tests: where random values come from. Each commit has a seed of its own, so that many inputs are tried over time and
 * unchanged code is never red by chance. `LASTCALL_SEED=7 npm test` tries others.
 */
import { spawnSync } from "node:child_process";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    seed: number;
  }
}

/** As many hexadecimal digits as fit the seed's 32 bits with their sign. */
const DIGITS = 7;

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default function setup(project: TestProject): void {
  const asked = process.env["LASTCALL_SEED"];
  const seed = asked === undefined ? ofCommit() : Number(asked);
  if (!Number.isSafeInteger(seed)) throw new Error(`LASTCALL_SEED=${asked}: not a whole number`);
  process.stdout.write(`random values are of seed ${seed}\n`);
  project.provide("seed", seed);
}

/** A source tree without its history has one seed. */
function ofCommit(): number {
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" });
  const seed = Number.parseInt((stdout ?? "").slice(0, DIGITS), 16);
  return Number.isNaN(seed) ? 1 : seed;
}
