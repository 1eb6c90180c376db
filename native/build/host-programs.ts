/** What a host must have before anything is compiled. */
import { accessSync, constants } from "node:fs";
import { delimiter } from "node:path";
import { BuildError } from "./build-error.ts";
import type { Variant } from "./variants.ts";

type Needs = Pick<Variant, "needs">;

/** The programs a variant needs and the host lacks, each with the Debian package that brings it. */
export function missingPrograms(variant: Needs): readonly string[] {
  return Object.entries(variant.needs)
    .filter(([program]) => !isOnPath(program))
    .map(([program, brings]) => `${program} (Debian: apt-get install ${brings})`);
}

/** @throws BuildError naming all of them */
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
