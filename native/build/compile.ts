/** Compiles TypeScript to C, and C to a binary. */
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { COMPILER, LIBC_BINDINGS, MANAGER_SOURCE, ROOT } from "./paths.ts";
import { runProgram } from "./run-program.ts";
import { INCLUDE_FOLDERS } from "./runtime-tree.ts";
import type { Variant } from "./variants.ts";

export type Program = {
  /** Path relative to the project's root. */
  readonly source: string;
  /** Whether the source declares C library calls: the compiler rejects bindings that are not declared. */
  readonly bindsLibc: boolean;
};

export const MANAGER: Program = { source: MANAGER_SOURCE, bindsLibc: true };

/** Compiles a program to one C file; fails on code that scriptc cannot compile statically. */
export async function emitC(file: string, program: Program): Promise<void> {
  const bindings = program.bindsLibc ? ["--ffi", LIBC_BINDINGS] : [];
  const args = [COMPILER, "build", program.source, "--emit=c", ...bindings, "-o", file];
  await runProgram(process.execPath, args, ROOT);
}

/**
 * Compiles the runtime to two archives. The TLS library has its own archive, without link-time optimisation, so that its code
 * is contiguous in the binary: the kernel loads whole pages, and only a drain uses TLS.
 */
export async function compileRuntime(variant: Variant, tree: string, files: readonly string[]): Promise<void> {
  mkdirSync(`${tree}/objects`, { recursive: true });
  const flagsFor = (file: string): readonly string[] =>
    isTls(file) ? [...variant.compileFlags, "-fno-lto"] : variant.compileFlags;
  const queue = [...files];
  const compileQueued = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift())
      await runProgram(
        variant.compiler,
        [...flagsFor(file), ...includeFlags(), "-c", file, "-o", objectOf(file)],
        tree,
      );
  };
  await Promise.all(Array.from({ length: availableParallelism() }, compileQueued));
  // `D` makes the archive deterministic: without times and owners.
  for (const [archive, members] of [
    ["runtime.a", files.filter((file) => !isTls(file))],
    ["tls.a", files.filter(isTls)],
  ] as const)
    await runProgram(variant.archiver, ["rcsD", archive, ...members.map(objectOf)], tree);
}

export async function link(variant: Variant, tree: string, program: string, output: string): Promise<void> {
  const extraSources = extraFilesOf(variant).filter((file) => file.endsWith(".c"));
  const inputs = [...includeFlags(), program, ...extraSources, "runtime.a", "-lc", "tls.a", "-o", output];
  await runProgram(variant.compiler, [...variant.compileFlags, ...inputs, ...variant.linkFlags], tree);
}

/** @returns absolute paths of additional C files to link, and of their headers */
export function extraFilesOf(variant: Variant): readonly string[] {
  return (variant.extraFiles ?? []).map((file) => `${ROOT}/${file}`);
}

const includeFlags = (): readonly string[] => INCLUDE_FOLDERS.map((folder) => `-I${folder}`);

const isTls = (file: string): boolean => file.startsWith("vendor/mbedtls/");

const objectOf = (file: string): string => `objects/${file.replaceAll("/", "_")}.o`;
