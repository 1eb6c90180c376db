/** Checks that the host has the programs that a build needs. */
import { accessSync, constants } from "node:fs";
import { delimiter } from "node:path";
import { BuildError } from "./build-error.ts";
import type { Variant } from "./variants.ts";

type Requirements = Pick<Variant, "requiredPrograms">;

/** Returns the missing programs, each with its Debian package. */
export function missingPrograms(variant: Requirements): readonly string[] {
  return Object.entries(variant.requiredPrograms)
    .filter(([program]) => !isOnPath(program))
    .map(([program, debianPackage]) => `${program} (Debian: apt-get install ${debianPackage})`);
}

/** @throws BuildError that names all missing programs */
export function requirePrograms(variant: Requirements): void {
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
