/** What the benchmark of the relay and its child processes say to each other. Times are of the machine's one clock. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { WithdrawalRequest } from "../src/contract/relay-wire.ts";

export type AskOrder = {
  readonly port: number;
  readonly serverName: string;
  /** PEM. */
  readonly ca: string;
  /** By namespace. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly questions: readonly WithdrawalRequest[];
  /** How many begin to ask in a second. */
  readonly perSecond: number;
  /** As managers do that wait for nothing but this word. */
  readonly heartbeat: boolean;
};

export type ApiPlaceOrder = { readonly asks: "place" };

export type ApiPlace = { readonly port: number };

export type WithdrawOrder = {
  readonly pods: readonly number[];
  /** Slices written in a second, each with one Pod withdrawn; 0: as fast as they can be written. */
  readonly perSecond: number;
};

/** When each Pod's slice was written, by number of the Pod. */
export type Withdrawn = { readonly sentMs: readonly (readonly [pod: number, atMs: number])[] };

export type Asked = {
  /** By uid: when the line that says `out` was read. */
  readonly outMs: Readonly<Record<string, number>>;
  readonly lines: number;
  /** Streams that broke or were refused before they said `out`, with the first reason. */
  readonly broken: number;
  readonly why: string;
};

/** Milliseconds of a clock that all processes share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export type Child = {
  readonly pid: number;
  /** One order at a time; rejects when the process ends instead of answering, or does neither for long. */
  readonly order: <T>(order: unknown) => Promise<T>;
  readonly stop: () => Promise<void>;
};

/**
 * Pods and API servers are other machines: here they get only the time that the webhook leaves, and are interrupted at once
 * when it wants a core (Linux's policy SCHED_IDLE). Two cores shared evenly with thousands of clients would measure those.
 */
const YIELDING: readonly string[] = ["--idle", "0"];

/** Longer than any order takes. */
const ANSWER_LIMIT_MS = 300_000;

export function startChild(file: string, args: readonly string[] = []): Child {
  const child: ChildProcess = fork(file, [...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execPath: "chrt",
    execArgv: [...YIELDING, process.execPath],
  });
  const ended = once(child, "exit");
  return {
    pid: child.pid ?? 0,
    order: async <T>(order: unknown) => {
      const lost = ended.then(() => Promise.reject(new Error(`${file} ended instead of answering`)));
      child.send(order as object);
      const answered = once(child, "message", { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
      const [answer] = await Promise.race([answered, lost]);
      return answer as T;
    },
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
