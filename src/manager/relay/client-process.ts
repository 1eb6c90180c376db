/**
 * The relay client as a process: this very program once more, with nothing but what it needs. One at a time, with a bound
 * on what it may say. Late words of an earlier one are dropped.
 */
import { spawn } from "node:child_process";
import { VARIABLES } from "../../contract/manager-environment.ts";
import { createLineBuffer, createRateLimit } from "../line-buffer.ts";
import type { Environment } from "../outside.ts";
import type { NowMs } from "../ports.ts";
import { CLIENT_LINE_LIMIT_BYTES, type ClientNews, type ClientOrder, formatOrder, parseNews } from "./ipc-messages.ts";

/** A started client. Its orders may be lost when it has gone; that is told by its end. */
type ClientProcess = { readonly write: (line: string) => void; readonly kill: () => void };

export type ClientEars = {
  readonly onOutput: (chunk: Buffer) => void;
  /** Called once, and never before the client was handed over. */
  readonly onEnd: (how: string) => void;
};

export type StartClient = (ears: ClientEars) => ClientProcess;

type ClientHandleParts = {
  readonly start: StartClient;
  readonly nowMs: NowMs;
  readonly onNews: (news: ClientNews) => void;
  /** The client is no more: by itself, or ended for this reason. */
  readonly onGone: (why: string) => void;
};

export type ClientHandle = {
  readonly start: () => void;
  readonly runs: () => boolean;
  readonly order: (what: ClientOrder) => void;
  readonly end: (why: string) => void;
  readonly heardAtMs: () => number;
};

/** Per second. */
const LIMITS = { bytes: 8 * CLIENT_LINE_LIMIT_BYTES, lines: 200 };

export function createClientHandle(parts: ClientHandleParts): ClientHandle {
  const { nowMs } = parts;
  let client: ClientProcess | undefined;
  let generation = 0;
  let heardAtMs = -1;

  const forget = (why: string): void => {
    generation = generation + 1;
    client = undefined;
    parts.onGone(why);
  };

  const end = (why: string): void => {
    const running = client;
    if (running === undefined) return;
    forget(why);
    running.kill();
  };

  const take = (mine: number, line: string): void => {
    const news = parseNews(line);
    // One line may end the client in the middle of the others.
    if (news !== undefined && mine === generation) parts.onNews(news);
  };

  return {
    runs: () => client !== undefined,
    heardAtMs: () => heardAtMs,
    end,
    order: (what) => {
      if (client !== undefined) client.write(`${formatOrder(what)}\n`);
    },
    start: () => {
      generation = generation + 1;
      const mine = generation;
      const buffer = createLineBuffer(CLIENT_LINE_LIMIT_BYTES);
      const gate = createRateLimit(LIMITS, nowMs);
      heardAtMs = nowMs();
      client = parts.start({
        onOutput: (chunk) => {
          if (mine !== generation) return;
          heardAtMs = nowMs();
          const lines = buffer.take(chunk);
          if (lines === undefined || !gate.admits(chunk.length, lines.length)) end("the relay client floods");
          else for (const line of lines) take(mine, line);
        },
        onEnd: (how) => {
          if (mine === generation) forget(`the relay client ended: ${how}`);
        },
      });
    },
  };
}

type Program = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
};

/** @param self the program's file, and what stands before its own words */
export function clientStarter(self: readonly string[], environment: Environment): StartClient {
  const env: Record<string, string> = {};
  env[VARIABLES.relayAddress] = environment.relayAddress;
  env[VARIABLES.relayName] = environment.relayName;
  env[VARIABLES.relayCa] = environment.relayCa;
  env[VARIABLES.relayCredential] = environment.relayCredential;
  env[VARIABLES.podNamespace] = environment.podNamespace;
  env[VARIABLES.podName] = environment.podName;
  env[VARIABLES.podUid] = environment.podUid;
  env[VARIABLES.podIps] = environment.podIps;
  const program: Program = { file: self[0] ?? "", args: [...self.slice(1), "relay"], env };
  return (ears) => {
    try {
      return start(program, ears);
    } catch (error) {
      const how = error instanceof Error ? error.message : "it could not be started";
      // Not before the caller knows what it has started.
      setTimeout(() => ears.onEnd(how), 0);
      return { write: () => {}, kill: () => {} };
    }
  };
}

function start(program: Program, ears: ClientEars): ClientProcess {
  let open = true;
  const finish = (how: string): void => {
    if (!open) return;
    open = false;
    ears.onEnd(how);
  };
  const child = spawn(program.file, [...program.args], { env: program.env, stdio: ["pipe", "pipe", "ignore"] });
  child.on("error", (error) => finish(error.message));
  child.on("close", (code: number | null) => finish(code === null ? "killed" : `status ${code}`));
  child.stdout.on("data", (chunk: Buffer) => ears.onOutput(chunk));
  // Without a listener a client that has gone would end the manager.
  child.stdin.on("error", () => {});
  return {
    write: (line) => {
      if (open) child.stdin.write(line);
    },
    kill: () => {
      child.kill("SIGKILL");
    },
  };
}
