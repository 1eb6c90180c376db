/** Runs one program of the host to its end. */
import { spawn } from "node:child_process";
import { BuildError } from "./build-error.ts";

export type Ran = { readonly status: number; readonly output: string };

/** @returns what it printed on both streams; a program that is not there rejects */
function tryProgram(program: string, args: readonly string[], folder: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // Neither the time nor the folder of a build may be seen in what it makes.
    const env = { ...process.env, LC_ALL: "C", SOURCE_DATE_EPOCH: "0" };
    const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const take = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

/** @throws BuildError with what the program printed, when it fails */
export async function runProgram(program: string, args: readonly string[], folder: string): Promise<string> {
  const { status, output } = await tryProgram(program, args, folder);
  if (status !== 0) throw new BuildError(`${program} ended with status ${status}: ${args.join(" ")}\n${output}`);
  return output;
}
