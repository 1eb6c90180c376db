/** Starts processes and kills the remaining ones when the demo exits. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { StopSignal } from "./kubelet-rules.ts";

type ProcessSignal = StopSignal | "SIGKILL";

export type LocalProcess = {
  readonly pid: number;
  readonly isRunning: () => boolean;
  /** Signals only the process, as a container runtime signals only process 1. SIGKILL goes to the whole process group. */
  readonly signal: (signal: ProcessSignal) => void;
  /** Exit status, -1 after a signal; never rejects. */
  readonly exited: Promise<number>;
};

type ProcessRequest = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory?: string | undefined;
  readonly onLine: (line: string) => void;
};

export type ProcessTable = {
  readonly start: (request: ProcessRequest) => LocalProcess;
  /** Synchronous, for exit handlers. */
  readonly killAll: () => void;
};

export function createProcessTable(): ProcessTable {
  const runningPids = new Set<number>();
  return {
    start: (request) => startProcess(request, runningPids),
    killAll: () => {
      for (const pid of runningPids) sendSignal(-pid, "SIGKILL");
    },
  };
}

function startProcess(request: ProcessRequest, runningPids: Set<number>): LocalProcess {
  const [program = "", ...args] = request.argv;
  const child = spawn(program, args, {
    // A process group of its own can be killed as a whole and does not receive the terminal's Ctrl-C.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: request.environment,
    cwd: request.directory,
  });
  const pid = child.pid ?? 0;
  if (pid !== 0) runningPids.add(pid);
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", request.onLine);
  const exited = once(child, "exit").then(
    ([status]: (number | null)[]) => {
      if (runningPids.delete(pid)) sendSignal(-pid, "SIGKILL");
      return status ?? -1;
    },
    (error: Error) => {
      request.onLine(`cannot start ${program}: ${error.message}`);
      return 127;
    },
  );
  return {
    pid,
    exited,
    isRunning: () => runningPids.has(pid),
    signal: (signal) => {
      if (runningPids.has(pid)) sendSignal(signal === "SIGKILL" ? -pid : pid, signal);
    },
  };
}

function sendSignal(pid: number, signal: ProcessSignal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: the process has exited.
  }
}
