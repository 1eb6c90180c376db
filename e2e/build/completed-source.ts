/**
 * A module with files that its published form lacks: a copy of its source with them laid over it, and a go.mod that puts
 * the copy in the module's place. Go's own overlays end at its module cache.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Completion = {
  /** The module's path. */
  readonly module: string;
  /** Below the folder of the go.mod; laid out as the module is. */
  readonly files: string;
};

/** The go.mod to build with. @param folder of the go.mod that asks for the module; @param scratch is the caller's to delete */
export function completedModfile(completion: Completion, folder: string, scratch: string): string {
  const published = sourceOf(completion.module, folder);
  const copy = join(scratch, "source");
  mkdirSync(scratch, { recursive: true });
  cpSync(published, copy, { recursive: true });
  // Go keeps its sources read-only, folders too.
  run("chmod", ["-R", "u+w", copy], folder);
  cpSync(join(folder, completion.files), copy, { recursive: true });
  const modfile = join(scratch, "go.mod");
  const asked = readFileSync(join(folder, "go.mod"), "utf8");
  writeFileSync(modfile, `${asked}\nreplace ${completion.module} => ${copy}\n`);
  copyFileSync(join(folder, "go.sum"), join(scratch, "go.sum"));
  return modfile;
}

/** Where Go keeps a module that the go.mod of a folder asks for; fetched when it is not there. */
export function sourceOf(module: string, folder: string): string {
  run("go", ["mod", "download", module], folder);
  return run("go", ["list", "-m", "-f", "{{.Dir}}", module], folder).trim();
}

function run(program: string, words: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} ${words.join(" ")} ended with ${status}: ${error?.message ?? stderr.trim()}`);
}
