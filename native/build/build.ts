/** Builds one variant, and reuses the results of earlier builds with the same inputs. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { fetchArm64Musl } from "./arm64-musl.ts";
import { compileRuntime, emitC, extraFilesOf, link, MANAGER, type Program } from "./compile.ts";
import { requirePrograms } from "./host-programs.ts";
import { installLocked } from "./install-locked.ts";
import { writeNotices } from "./notices.ts";
import {
  COMPILE_STEPS,
  FLAG_HEADER,
  LIBC_BINDINGS,
  outputFolder,
  ROOT,
  RUNTIME_PATCH,
  TLS_TRIM,
  TOOLCHAIN,
} from "./paths.ts";
import { runProgram } from "./run-program.ts";
import { copyRuntime } from "./runtime-tree.ts";
import { VARIANTS, type Variant, type VariantName } from "./variants.ts";

/** Inputs of the runtime's build besides the variant. */
const RUNTIME_INPUTS = [`${TOOLCHAIN}/package-lock.json`, RUNTIME_PATCH, TLS_TRIM, FLAG_HEADER, COMPILE_STEPS];

/** `isRebuilt`: built by this call, not by an earlier call. */
export type BuiltManager = {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly isRebuilt: boolean;
};

/** @param into output folder; empty for build/native. @throws BuildError with the remedy */
export async function buildManager(name: VariantName, into = ""): Promise<BuiltManager> {
  const variant: Variant = VARIANTS[name];
  requirePrograms(variant);
  await installLocked(TOOLCHAIN);
  if (variant.crossLibc !== undefined) await fetchArm64Musl(`${outputFolder(into)}/work/${variant.crossLibc}`);
  const folder = outputFolder(into);
  const output = `${folder}/${variant.output}`;
  const buildKey = await hashInputs(variant, [
    ...RUNTIME_INPUTS,
    LIBC_BINDINGS,
    ...extraFilesOf(variant),
    ...listSources(),
  ]);
  const keyFile = `${folder}/work/${name}.key`;
  const isRebuilt = !existsSync(output) || readIfExists(keyFile) !== buildKey;
  if (isRebuilt) {
    const runtimeFolder = await buildRuntime(variant, folder);
    await compileProgram(variant, runtimeFolder, MANAGER, output);
    writeNotices(`${folder}/NOTICES.txt`, runtimeFolder);
    writeFileSync(keyFile, buildKey);
  }
  const bytes = readFileSync(output);
  return { file: output, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length, isRebuilt };
}

/**
 * Compiles a test program with the manager's runtime, without a cache.
 *
 * @param output the file to write. @throws BuildError as {@link buildManager} does
 */
export async function buildProgram(name: VariantName, program: Program, output: string): Promise<void> {
  const variant: Variant = VARIANTS[name];
  requirePrograms(variant);
  await installLocked(TOOLCHAIN);
  await compileProgram(variant, await buildRuntime(variant, outputFolder("")), program, output);
}

/**
 * Writes a temporary file and renames it, so that concurrent builds and running processes never read a partial file.
 */
async function compileProgram(variant: Variant, tree: string, program: Program, output: string): Promise<void> {
  const temporaryFolder = mkdtempSync(`${output}-`);
  try {
    await emitC(`${temporaryFolder}/program.c`, program);
    await link(variant, tree, `${temporaryFolder}/program.c`, `${temporaryFolder}/program`);
    renameSync(`${temporaryFolder}/program`, output);
  } finally {
    rmSync(temporaryFolder, { recursive: true });
  }
}

async function buildRuntime(variant: Variant, folder: string): Promise<string> {
  // Variants that differ only in the link step share one runtime.
  const { compiler, compileFlags } = variant;
  const key = await hashInputs({ compiler, compileFlags }, RUNTIME_INPUTS);
  const tree = `${folder}/work/runtime-${key}`;
  if (existsSync(`${tree}/runtime.a`)) return tree;
  mkdirSync(dirname(tree), { recursive: true });
  // The folder gets its name when it is complete, so that an interrupted build does not leave a partial runtime.
  const temporaryFolder = mkdtempSync(`${tree}-`);
  try {
    await compileRuntime(variant, temporaryFolder, copyRuntime(temporaryFolder));
  } catch (error) {
    rmSync(temporaryFolder, { recursive: true });
    throw error;
  }
  // Do not replace the runtime of a concurrent build, which a compiler may be reading.
  if (existsSync(tree)) rmSync(temporaryFolder, { recursive: true });
  else renameSync(temporaryFolder, tree);
  return tree;
}

async function hashInputs(
  variant: Pick<Variant, "compiler" | "compileFlags">,
  files: readonly string[],
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(variant));
  hash.update(await runProgram(variant.compiler, ["--version"], ROOT));
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** Lists the source files of the manager, including those shared with the webhook. */
function listSources(): readonly string[] {
  return ["src/contract", "src/manager"].flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .sort()
      .map((name) => `${ROOT}/${folder}/${name}`),
  );
}

function readIfExists(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
