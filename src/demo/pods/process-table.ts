/** Every process the demo starts, so that none can outlive it. */
import { spawn } from "node:child_process";
import type { StopSignal } from "./kubelet-rules.ts";

/** SIGKILL and what images and Pods choose as stop signal. */
type ProcessSignal = StopSignal | "SIGKILL";

export type LocalProcess = {
  /** 0 when it could not be started. */
  readonly pid: number;
  readonly isRunning: () => boolean;
  /** To the process itself, as to process 1 of a container; SIGKILL takes everything it started too. */
  readonly signal: (signal: ProcessSignal) => void;
  /** Resolves with the exit status; 128 + n after a signal is written as -1. Never rejects. */
  readonly exited: Promise<number>;
};

type ProcessRequest = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** One line of standard output or error, without its end; lines are cut at {@link LINE_LIMIT}. */
  readonly onLine: (line: string, stream: "stdout" | "stderr") => void;
};

export type ProcessTable = {
  readonly start: (request: ProcessRequest) => LocalProcess;
  /** Synchronous, for the very end of the program as well. */
  readonly killAll: () => void;
};

const LINE_LIMIT = 64 * 1024;

export function createProcessTable(): ProcessTable {
  const living = new Set<number>();
  return {
    start: (request) => startProcess(request, living),
    killAll: () => {
      for (const pid of living) sendSignal(-pid, "SIGKILL");
    },
  };
}

function startProcess(request: ProcessRequest, living: Set<number>): LocalProcess {
  const [program = "", ...args] = request.argv;
  // A group of its own: Ctrl-C at the terminal must not reach containers, and a whole group can be killed.
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...request.environment },
    ...(request.directory === undefined ? {} : { cwd: request.directory }),
  });
  const pid = child.pid ?? 0;
  let running = pid !== 0;
  if (running) living.add(pid);
  const exited = new Promise<number>((resolve) => {
    const over = (status: number) => {
      running = false;
      if (pid !== 0) {
        sendSignal(-pid, "SIGKILL");
        living.delete(pid);
      }
      resolve(status);
    };
    child.once("exit", (code) => over(code ?? -1));
    child.once("error", (error) => {
      request.onLine(`cannot start ${program}: ${error.message}`, "stderr");
      over(127);
    });
  });
  child.stdout.on(
    "data",
    lineSplitter((line) => request.onLine(line, "stdout")),
  );
  child.stderr.on(
    "data",
    lineSplitter((line) => request.onLine(line, "stderr")),
  );
  return {
    pid,
    exited,
    isRunning: () => running,
    signal: (signal) => {
      if (running) sendSignal(signal === "SIGKILL" ? -pid : pid, signal);
    },
  };
}

function sendSignal(pid: number, signal: ProcessSignal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, which is what the caller wants in the end.
  }
}

/** Takes chunks, gives lines. */
function lineSplitter(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (parts.pop() ?? "").slice(0, LINE_LIMIT);
    for (const part of parts) onLine(part.slice(0, LINE_LIMIT));
  };
}
