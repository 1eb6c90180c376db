/**
 * Adds files to the published source of a module, or replaces some: it copies the source, copies the files over it, and writes
 * a go.mod that replaces the module by the copy. Go's overlays do not apply to its module cache.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Completion = {
  /** The module's path. */
  readonly module: string;
  /** The files: a folder beside the go.mod, with the module's layout. */
  readonly files: string;
};

/** Writes the go.mod for the build, and returns its path. @param folder folder of the original go.mod @param scratch deleted by the caller */
export function writeCompletedModfile(completion: Completion, folder: string, scratch: string): string {
  const published = downloadSource(completion.module, folder);
  const copy = join(scratch, "source");
  mkdirSync(scratch, { recursive: true });
  cpSync(published, copy, { recursive: true });
  // Sources in Go's module cache are read-only, folders included.
  run("chmod", ["-R", "u+w", copy], folder);
  cpSync(join(folder, completion.files), copy, { recursive: true });
  const modfile = join(scratch, "go.mod");
  const originalModfile = readFileSync(join(folder, "go.mod"), "utf8");
  writeFileSync(modfile, `${originalModfile}\nreplace ${completion.module} => ${copy}\n`);
  copyFileSync(join(folder, "go.sum"), join(scratch, "go.sum"));
  return modfile;
}

/** Returns the folder of a required module in Go's module cache, and downloads it if it is missing. */
export function downloadSource(module: string, folder: string): string {
  run("go", ["mod", "download", module], folder);
  return run("go", ["list", "-m", "-f", "{{.Dir}}", module], folder).trim();
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${error?.message ?? stderr.trim()}`);
}
