/** Starts programs under the sanitizers, and detects defects in their exit. */
import { type ChildProcess, spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { pause } from "../../time/pause.ts";
import { Finding } from "./sanitize-part.ts";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
export const SANITIZED_MANAGER = `${ROOT}/build/native/lastcall-sanitize`;
/** Contains the fuzz programs and the input of failures. */
export const FUZZ_FOLDER = `${ROOT}/build/fuzz`;
export const TOKEN = "t0ken";
export const MANAGER_PORT = 17_890;

export type ProcessEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};
export type RunningProgram = {
  readonly child: ChildProcess;
  readonly ended: Promise<ProcessEnd>;
  readonly stdout: () => string;
};

const REPORT_PATTERN = /AddressSanitizer|LeakSanitizer|runtime error:|RC AUDIT FAILED|stack smashing/;
const running = new Set<ChildProcess>();

/** Kills programs that still run after a failure. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Kills the programs at SIGINT and SIGTERM, and exits. */
export function killAllWhenInterrupted(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      killAll();
      process.exit(EXIT_INTERRUPTED);
    });
}

const EXIT_INTERRUPTED = 130;

export function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  const child = spawn(command, args, {
    env: {
      PATH: process.env["PATH"] ?? "",
      LASTCALL_TOKEN: TOKEN,
      UBSAN_OPTIONS: "print_stacktrace=1",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, ended, stdout: () => stdout };
}

/** @throws Finding on a crash, a sanitizer's report, or a status that is not `allowed` */
export function requireCleanExit(end: ProcessEnd, allowed: readonly number[], input: Buffer): void {
  const exitDescription = `status ${end.code}, signal ${end.signal}; its standard error:\n${end.stderr.slice(0, 20_000)}`;
  if (REPORT_PATTERN.test(end.stderr)) throw new Finding(`a sanitizer reports a defect: ${exitDescription}`, input);
  if (end.code === null || !allowed.includes(end.code))
    throw new Finding(`the program ended with ${exitDescription}`, input);
}

/** Waits until the output matches. @throws Finding if the program exits or `limitMs` passes before a match */
export async function untilPrinted(program: RunningProgram, pattern: RegExp, limitMs: number): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (!pattern.test(program.stdout())) {
    if (program.child.exitCode !== null || program.child.signalCode !== null)
      requireCleanExit(await program.ended, [], Buffer.from(program.stdout()));
    if (performance.now() > deadlineMs)
      throw new Finding(`the program never printed ${pattern}`, Buffer.from(program.stdout()));
    await pause(10, "the program has not printed a match yet");
  }
}

/** Sends bytes and returns what the server sent until it closed the connection or `limitMs` had passed. */
export function exchange(address: string, bytes: Buffer, limitMs: number): Promise<string> {
  return new Promise((resolve) => {
    let response = "";
    const socket: Socket = connect({ host: address, port: MANAGER_PORT });
    const timer = setTimeout(() => socket.destroy(), limitMs);
    socket.on("connect", () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => {
      response += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(response);
    });
  });
}
