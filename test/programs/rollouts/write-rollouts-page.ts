/** Writes docs/rollouts.md when every scene of the bench was measured. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OtherResult } from "../results/program-result.ts";
import { rolloutsPage, unmeasured } from "./rollouts-page.ts";

const PAGE = join(import.meta.dirname, "../../../docs/rollouts.md");

/** @returns what was not measured; then the page stays as it is. */
export function writeRolloutsPage(results: readonly OtherResult[]): readonly string[] {
  const missing = unmeasured(results);
  if (missing.length === 0) writeFileSync(PAGE, rolloutsPage(results));
  return missing;
}
