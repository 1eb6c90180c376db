/** Installs the compiler into its own folder, exactly as its lock file says, when it is not there yet. */
import { readFileSync, writeFileSync } from "node:fs";
import { TOOLCHAIN } from "./places.ts";
import { runProgram } from "./run-program.ts";

const STAMP = `${TOOLCHAIN}/node_modules/.installed-lock`;

export async function installToolchain(): Promise<void> {
  const lock = readFileSync(`${TOOLCHAIN}/package-lock.json`, "utf8");
  if (installedLock() === lock) return;
  await runProgram("npm", ["ci", "--no-audit", "--no-fund"], TOOLCHAIN);
  writeFileSync(STAMP, lock);
}

function installedLock(): string {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return "";
  }
}
