/** Runs a program until it exits. */
import { type ChildProcess, spawn } from "node:child_process";

export type RunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
};

/**
 * Returns a command that runs the program and that the kernel kills when this process ends, even by SIGKILL. On other systems
 * than Linux it returns the program and its arguments unchanged.
 */
export function withParentDeathSignal(program: string, args: readonly string[]): readonly [string, readonly string[]] {
  if (process.platform !== "linux") return [program, args];
  return ["setpriv", ["--pdeathsig", "KILL", "--", program, ...args]];
}

/** Runs a program that must succeed, and returns its standard output. Rejects with the command, its status and the end of its standard error. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { status, output, stderr } = await attempt(program, args, options);
  if (status === 0) return output;
  throw new Error(`${[program, ...args].join(" ")} ended with ${status}: ${stderr.trim().slice(-2000)}`);
}

export type Attempt = { readonly status: number; readonly output: string; readonly stderr: string };

/** Runs a program that may fail, and returns its exit status; 127 if the program does not exist. */
export function attempt(program: string, args: readonly string[], options: RunOptions = {}): Promise<Attempt> {
  return new Promise((resolve) => {
    const [command, commandArgs] = withParentDeathSignal(program, args);
    const child = spawn(command, commandArgs, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    let output = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    // A program may exit without reading its input.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => resolve({ status: 127, output, stderr: error.message }));
    child.once("close", (status) => resolve({ status: status ?? 128, output, stderr }));
  });
}

/** Starts a program that runs until it is ended, with a callback per line of output. */
export function follow(program: string, args: readonly string[], onLine: (line: string) => void): ChildProcess {
  const [command, commandArgs] = withParentDeathSignal(program, args);
  const child = spawn(command, commandArgs, { stdio: ["ignore", "pipe", "ignore"] });
  let partialLine = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (partialLine + chunk).split("\n");
    partialLine = lines.pop() ?? "";
    lines.forEach(onLine);
  });
  return child;
}
