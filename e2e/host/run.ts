/** Runs one program to its end. */
import { spawn } from "node:child_process";

export type RunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
};

/**
 * The words of a command that ends when this process does, in whatever way: a bring-up that is killed leaves none of its
 * helpers behind. Only Linux knows how.
 */
export function mortal(program: string, args: readonly string[]): readonly [string, readonly string[]] {
  if (process.platform !== "linux") return [program, args];
  return ["setpriv", ["--pdeathsig", "KILL", "--", program, ...args]];
}

/** Its standard output. Rejects with the command, its status and the end of what it wrote to standard error. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { status, output, complaint } = await attempt(program, args, options);
  if (status === 0) return output;
  throw new Error(`${[program, ...args].join(" ")} ended with ${status}: ${complaint.trim().slice(-2000)}`);
}

export type Attempt = { readonly status: number; readonly output: string; readonly complaint: string };

/** The same for a program that may fail: its status is part of the answer. 127 when there is no such program. */
export function attempt(program: string, args: readonly string[], options: RunOptions = {}): Promise<Attempt> {
  return new Promise((resolve) => {
    const [command, words] = mortal(program, args);
    const child = spawn(command, words, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    let output = "";
    let complaint = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      complaint += chunk;
    });
    // A program may end without reading what it was given.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => resolve({ status: 127, output, complaint: error.message }));
    child.once("close", (status) => resolve({ status: status ?? 128, output, complaint }));
  });
}
