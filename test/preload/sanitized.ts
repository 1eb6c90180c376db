/** The preloaded library's source in programs of this folder, under the address and undefined-behaviour sanitizers. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../native/build/places.ts";

const SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
const STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"];
const PURE = ["native/preload/head.c", "native/preload/state.c"];

/** @returns the program. @throws Error with the compiler's output */
export function compileSanitized(name: string, folder: string): string {
  const program = join(folder, name);
  const words = [...STRICT, ...SANITIZED, `test/preload/${name}.c`, ...PURE, "-o", program];
  const { status, stderr } = spawnSync("gcc", words, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} does not compile:\n${stderr}`);
  return program;
}
