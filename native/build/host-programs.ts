/** Checks that the host has the programs that a build needs. */
import { accessSync, constants } from "node:fs";
import { delimiter } from "node:path";
import { BuildError } from "./build-error.ts";
import type { Variant } from "./variants.ts";

type Needs = Pick<Variant, "needs">;

/** Missing programs, each with its Debian package. */
export function missingPrograms(variant: Needs): readonly string[] {
  return Object.entries(variant.needs)
    .filter(([program]) => !isOnPath(program))
    .map(([program, brings]) => `${program} (Debian: apt-get install ${brings})`);
}

/** @throws BuildError that names all missing programs */
export function demandPrograms(variant: Needs): void {
  const missing = missingPrograms(variant);
  if (missing.length > 0) throw new BuildError(`the host lacks ${missing.join(" and ")}`);
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(`${folder}/${program}`, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
