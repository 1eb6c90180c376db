/** Installs a folder's npm packages in the versions of its lock file, unless these are already installed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

/** @param folder with package.json and lock file. @throws Error with npm's output */
export async function installLocked(folder: string): Promise<void> {
  const installedLockFile = join(folder, "node_modules/.installed-lock");
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  if (readIfExists(installedLockFile) === lock) return;
  await runProgram("npm", ["ci", "--no-audit", "--no-fund"], folder);
  writeFileSync(installedLockFile, lock);
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
