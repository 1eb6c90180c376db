/** From TypeScript to C to one binary. */
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { COMPILER, LIBC_BINDINGS, MANAGER_SOURCE, ROOT } from "./places.ts";
import { runProgram } from "./run-program.ts";
import { INCLUDES } from "./runtime-tree.ts";
import type { Variant } from "./variants.ts";

export type Program = {
  /** Below the root. */
  readonly source: string;
  /** The source declares the C library calls; the compiler refuses bindings that nothing declares. */
  readonly bindsLibc: boolean;
};

export const MANAGER: Program = { source: MANAGER_SOURCE, bindsLibc: true };

/** Compiles a program's source to one C file. A construct that has no native form ends the build. */
export async function emitC(file: string, program: Program): Promise<void> {
  const bindings = program.bindsLibc ? ["--ffi", LIBC_BINDINGS] : [];
  const args = [COMPILER, "build", program.source, "--emit=c", ...bindings, "-o", file];
  await runProgram(process.execPath, args, ROOT);
}

/**
 * Compiles the runtime's C files to two archives. TLS has its own, so that it lies together in the binary: only a drain
 * needs it, and what lies between other code is read into memory with it.
 */
export async function compileRuntime(variant: Variant, tree: string, files: readonly string[]): Promise<void> {
  mkdirSync(`${tree}/objects`, { recursive: true });
  const waiting = [...files];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      await runProgram(variant.compiler, [...variant.compile, ...includes(), "-c", file, "-o", objectOf(file)], tree);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  // D: neither times nor owners in the archive.
  for (const [archive, part] of [
    ["runtime.a", files.filter((file) => !isTls(file))],
    ["tls.a", files.filter(isTls)],
  ] as const)
    await runProgram("ar", ["rcsD", archive, ...part.map(objectOf)], tree);
}

export async function link(variant: Variant, tree: string, program: string, output: string): Promise<void> {
  const beside = filesBeside(variant).filter((file) => file.endsWith(".c"));
  const inputs = [...includes(), program, ...beside, "runtime.a", "-lc", "tls.a", "-o", output];
  await runProgram(variant.compiler, [...variant.compile, ...inputs, ...variant.link], tree);
}

/** @returns what is linked in beside the manager and its runtime, headers included */
export function filesBeside(variant: Variant): readonly string[] {
  return (variant.beside ?? []).map((file) => `${ROOT}/${file}`);
}

const includes = (): readonly string[] => INCLUDES.map((folder) => `-I${folder}`);

const isTls = (file: string): boolean => file.startsWith("vendor/mbedtls/");

const objectOf = (file: string): string => `objects/${file.replaceAll("/", "_")}.o`;
