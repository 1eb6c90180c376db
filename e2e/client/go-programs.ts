/** Builds programs of Go modules unless they are cached, and imports them as images on the suite's own nodes. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { buildModule } from "../build/build-module.ts";
import { compilerCache } from "../build/compiler-cache.ts";
import type { ModuleName } from "../build/module-table.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { cacheFolder } from "../host/cache-folder.ts";
import { importImages } from "../images/import-images.ts";
import { type PackedProgram, writeProgramArchive } from "../images/program-archive.ts";
import type { Suite } from "./suite.ts";

/** @param programs images whose `program` is the name of a program of the module, not its path */
export async function importGoPrograms(
  suite: Suite,
  module: ModuleName,
  programs: readonly PackedProgram[],
): Promise<void> {
  const cache = cacheFolder(process.env);
  const goCache = compilerCache(cache, randomUUID());
  try {
    const print = (line: string) => void process.stderr.write(`${line}\n`);
    const { binaries } = await buildModule(module, { cache, goCache, print });
    const packedPrograms = programs.map((row) => ({ ...row, program: join(binaries, row.program) }));
    const file = await writeProgramArchive(packedPrograms, cache, Date.now());
    for (const node of suite.nodes) await importImages([file], stateFolder().socketOf(node));
  } finally {
    await goCache.close();
  }
}
