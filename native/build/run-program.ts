/** Runs a program and waits for its end. */
import { spawn } from "node:child_process";
import { BuildError } from "./build-error.ts";

export type Ran = { readonly status: number; readonly output: string };

/** @returns the output of both streams; rejects if the program is missing */
function tryProgram(program: string, args: readonly string[], folder: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // The output must not depend on the build's time and folder.
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

/** @throws BuildError with the program's output when it fails */
export async function runProgram(program: string, args: readonly string[], folder: string): Promise<string> {
  const { status, output } = await tryProgram(program, args, folder);
  if (status !== 0) throw new BuildError(`${program} ended with status ${status}: ${args.join(" ")}\n${output}`);
  return output;
}
