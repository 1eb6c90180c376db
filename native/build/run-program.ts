/** Runs a program and returns its output when it has exited. */
import { spawn } from "node:child_process";
import { BuildError } from "./build-error.ts";

export type ProgramResult = { readonly status: number; readonly output: string };

/** @returns the output of both streams; rejects if the program is missing */
function attemptProgram(program: string, args: readonly string[], folder: string): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    // Output files must not depend on the locale and the time of the build.
    const env = { ...process.env, LC_ALL: "C", SOURCE_DATE_EPOCH: "0" };
    const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const append = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", append);
    child.stderr.on("data", append);
    child.on("error", reject);
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

/** @throws BuildError with the program's output if it exits with another status than 0 */
export async function runProgram(program: string, args: readonly string[], folder: string): Promise<string> {
  const { status, output } = await attemptProgram(program, args, folder);
  if (status !== 0) throw new BuildError(`${program} exited with status ${status}: ${args.join(" ")}\n${output}`);
  return output;
}
