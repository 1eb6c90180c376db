/** Installs a folder's own packages, exactly as its lock file says, when they are not there yet. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

/** @param folder has a package.json and a lock file of its own. @throws when npm fails, with what it said */
export async function installLocked(folder: string): Promise<void> {
  const stamp = join(folder, "node_modules/.installed-lock");
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  if (readIfThere(stamp) === lock) return;
  await runProgram("npm", ["ci", "--no-audit", "--no-fund"], folder);
  writeFileSync(stamp, lock);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
