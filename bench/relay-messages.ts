/** Defines the messages between the relay benchmark and its child processes, and starts these processes. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { WithdrawalRequest } from "../src/contract/relay-wire.ts";

export type StreamCommand = {
  readonly port: number;
  readonly serverName: string;
  readonly caPem: string;
  readonly credentialByNamespace: Readonly<Record<string, string>>;
  readonly requests: readonly WithdrawalRequest[];
  readonly streamsPerSecond: number;
  readonly heartbeat: boolean;
};

export type ApiAddressRequest = { readonly request: "address" };

export type ApiAddress = { readonly port: number };

export type WithdrawCommand = {
  readonly pods: readonly number[];
  /** Slice changes per second, each withdrawing one Pod; 0: as fast as possible. */
  readonly perSecond: number;
};

export type WithdrawResult = { readonly sentMs: readonly (readonly [pod: number, atMs: number])[] };

export type StreamResults = {
  readonly outMsByUid: Readonly<Record<string, number>>;
  readonly lines: number;
  readonly broken: number;
  readonly brokenReason: string;
};

/** Milliseconds of CLOCK_MONOTONIC, which all processes of a host share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export type Child = {
  readonly pid: number;
  /** Sends a command and resolves to the reply; one command at a time. Rejects when the process exits, or at the time limit. */
  readonly sendCommand: <T>(command: unknown) => Promise<T>;
  readonly stop: () => Promise<void>;
};

/**
 * The child processes stand for Pods and an API server on other hosts. SCHED_IDLE gives them only the CPU time that the webhook
 * leaves and preempts them when it needs a core; otherwise their load on the same cores would be part of the result.
 */
const IDLE_PRIORITY: readonly string[] = ["--idle", "0"];

const REPLY_LIMIT_MS = 300_000;

export function startChild(file: string, args: readonly string[] = []): Child {
  const child: ChildProcess = fork(file, [...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execPath: "chrt",
    execArgv: [...IDLE_PRIORITY, process.execPath],
  });
  const exit = once(child, "exit");
  return {
    pid: child.pid ?? 0,
    sendCommand: async <T>(command: unknown) => {
      const earlyExit = exit.then(() => Promise.reject(new Error(`${file} ended before its reply`)));
      child.send(command as object);
      const reply = once(child, "message", { signal: AbortSignal.timeout(REPLY_LIMIT_MS) });
      const [message] = await Promise.race([reply, earlyExit]);
      return message as T;
    },
    stop: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
