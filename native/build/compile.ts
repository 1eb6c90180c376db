/** Compiles TypeScript to C, and C to a binary. */
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { COMPILER, LIBC_BINDINGS, MANAGER_SOURCE, ROOT } from "./places.ts";
import { runProgram } from "./run-program.ts";
import { INCLUDES } from "./runtime-tree.ts";
import type { Variant } from "./variants.ts";

export type Program = {
  /** Relative to the root. */
  readonly source: string;
  /** The compiler refuses bindings that the source does not declare. */
  readonly bindsLibc: boolean;
};

export const MANAGER: Program = { source: MANAGER_SOURCE, bindsLibc: true };

/** Compiles a program to one C file; fails on a construct without a native form. */
export async function emitC(file: string, program: Program): Promise<void> {
  const bindings = program.bindsLibc ? ["--ffi", LIBC_BINDINGS] : [];
  const args = [COMPILER, "build", program.source, "--emit=c", ...bindings, "-o", file];
  await runProgram(process.execPath, args, ROOT);
}

/**
 * Compiles the runtime to two archives. TLS has its own, without link-time optimisation, and is therefore contiguous in the
 * binary: only a drain uses it, and the kernel reads whole pages.
 */
export async function compileRuntime(variant: Variant, tree: string, files: readonly string[]): Promise<void> {
  mkdirSync(`${tree}/objects`, { recursive: true });
  const flagsFor = (file: string): readonly string[] =>
    isTls(file) ? [...variant.compile, "-fno-lto"] : variant.compile;
  const waiting = [...files];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      await runProgram(variant.compiler, [...flagsFor(file), ...includes(), "-c", file, "-o", objectOf(file)], tree);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  // D: deterministic, without times and owners.
  for (const [archive, part] of [
    ["runtime.a", files.filter((file) => !isTls(file))],
    ["tls.a", files.filter(isTls)],
  ] as const)
    await runProgram(variant.archiver, ["rcsD", archive, ...part.map(objectOf)], tree);
}

export async function link(variant: Variant, tree: string, program: string, output: string): Promise<void> {
  const beside = filesBeside(variant).filter((file) => file.endsWith(".c"));
  const inputs = [...includes(), program, ...beside, "runtime.a", "-lc", "tls.a", "-o", output];
  await runProgram(variant.compiler, [...variant.compile, ...inputs, ...variant.link], tree);
}

/** @returns additional files to link, including headers */
export function filesBeside(variant: Variant): readonly string[] {
  return (variant.beside ?? []).map((file) => `${ROOT}/${file}`);
}

const includes = (): readonly string[] => INCLUDES.map((folder) => `-I${folder}`);

const isTls = (file: string): boolean => file.startsWith("vendor/mbedtls/");

const objectOf = (file: string): string => `objects/${file.replaceAll("/", "_")}.o`;
