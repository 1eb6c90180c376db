/** Compiles test programs with the preload library's source, under the address and undefined-behaviour sanitizers. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../native/build/paths.ts";

const SANITIZER_FLAGS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
const STRICT_FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"];
const LIBRARY_SOURCES = ["native/preload/head.c", "native/preload/state.c"];

/** @returns the program's path. @throws Error with the compiler's output if the program does not compile */
export function compileSanitized(name: string, folder: string): string {
  const program = join(folder, name);
  const args = [...STRICT_FLAGS, ...SANITIZER_FLAGS, `test/preload/${name}.c`, ...LIBRARY_SOURCES, "-o", program];
  const { status, stderr } = spawnSync("gcc", args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} does not compile:\n${stderr}`);
  return program;
}
