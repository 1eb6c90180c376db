/** A program inside a case: where it is missing the case is skipped with the reason, in CI it fails. */
import { type FoundProgram, programOf } from "./program-of.ts";
import type { ProgramName } from "./program-table.ts";

/** What Vitest hands to a case: `skip` leaves it. */
export type Skipping = { readonly skip: (note: string) => never };

export async function requiredProgram(name: ProgramName, context: Skipping): Promise<FoundProgram> {
  const program = await programOf(name);
  if (program.kind === "found") return program;
  return missing(program.why, context);
}

/** @throws in CI, where what cannot be tried is a failure. */
export function missing(why: string, context: Skipping): never {
  if ((process.env["CI"] ?? "") !== "") throw new Error(why);
  process.stderr.write(`skipped: ${why}\n`);
  return context.skip(why);
}
