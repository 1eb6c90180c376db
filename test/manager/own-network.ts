/** Runs a program of a test in its own network namespace. */
import { spawnSync } from "node:child_process";

const refusal = spawnSync("unshare", ["-n", "true"], { encoding: "utf8" });
export const canIsolate = refusal.status === 0 && spawnSync("ip", ["-V"]).status === 0;
if (!canIsolate)
  process.stdout.write(`skipped: cannot create network namespaces: ${refusal.stderr ?? refusal.error}\n`);

/** @param program file next to this one @returns one value per line of JSON. @throws if the program prints an error */
export function runInOwnNetwork(program: string, args: readonly string[]): readonly Record<string, unknown>[] {
  const file = new URL(program, import.meta.url).pathname;
  const { stdout, stderr } = spawnSync("unshare", ["-n", process.execPath, file, ...args], { encoding: "utf8" });
  if (stderr !== "") throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
