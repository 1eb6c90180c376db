/** Runs the relay client as a child process, at most one at a time, and limits the rate of its output. */
import { spawn } from "node:child_process";
import { VARIABLES } from "../../contract/manager-environment.ts";
import { createLineBuffer, createRateLimit } from "../line-buffer.ts";
import type { Environment } from "../platform.ts";
import type { NowMs } from "../ports.ts";
import {
  CLIENT_LINE_LIMIT_BYTES,
  type ClientCommand,
  type ClientMessage,
  formatCommand,
  parseMessage,
} from "./ipc-messages.ts";

type ClientProcess = { readonly write: (line: string) => void; readonly kill: () => void };

export type ClientCallbacks = {
  readonly onOutput: (chunk: Buffer) => void;
  /** Called exactly once, after `StartClient` has returned. */
  readonly onEnd: (reason: string) => void;
};

export type StartClient = (callbacks: ClientCallbacks) => ClientProcess;

type ClientHandleParts = {
  readonly start: StartClient;
  readonly nowMs: NowMs;
  readonly onMessage: (message: ClientMessage) => void;
  readonly onExit: (why: string) => void;
};

export type ClientHandle = {
  readonly start: () => void;
  readonly isRunning: () => boolean;
  readonly send: (command: ClientCommand) => void;
  readonly end: (why: string) => void;
  readonly lastReceivedAtMs: () => number;
};

const OUTPUT_LIMITS = { bytes: 8 * CLIENT_LINE_LIMIT_BYTES, lines: 200 };

export function createClientHandle(parts: ClientHandleParts): ClientHandle {
  const { nowMs } = parts;
  let client: ClientProcess | undefined;
  let generation = 0;
  let lastReceivedAtMs = -1;

  const markExited = (why: string): void => {
    generation = generation + 1;
    client = undefined;
    parts.onExit(why);
  };

  const end = (why: string): void => {
    const runningClient = client;
    if (runningClient === undefined) return;
    markExited(why);
    runningClient.kill();
  };

  const handleLine = (lineGeneration: number, line: string): void => {
    const message = parseMessage(line);
    // The handler of an earlier line in the same chunk may have ended the client.
    if (message !== undefined && lineGeneration === generation) parts.onMessage(message);
  };

  return {
    isRunning: () => client !== undefined,
    lastReceivedAtMs: () => lastReceivedAtMs,
    end,
    send: (command) => {
      if (client !== undefined) client.write(`${formatCommand(command)}\n`);
    },
    start: () => {
      generation = generation + 1;
      const ownGeneration = generation;
      const buffer = createLineBuffer(CLIENT_LINE_LIMIT_BYTES);
      const rateLimit = createRateLimit(OUTPUT_LIMITS, nowMs);
      lastReceivedAtMs = nowMs();
      client = parts.start({
        onOutput: (chunk) => {
          if (ownGeneration !== generation) return;
          lastReceivedAtMs = nowMs();
          const lines = buffer.addChunk(chunk);
          if (lines === undefined || !rateLimit.admits(chunk.length, lines.length))
            end("the relay client exceeded its output limit");
          else for (const line of lines) handleLine(ownGeneration, line);
        },
        onEnd: (reason) => {
          if (ownGeneration === generation) markExited(`the relay client ended: ${reason}`);
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

export function clientStarter(ownCommand: readonly string[], environment: Environment): StartClient {
  const env: Record<string, string> = {};
  env[VARIABLES.relayAddress] = environment.relayAddress;
  env[VARIABLES.relayName] = environment.relayName;
  env[VARIABLES.relayCa] = environment.relayCa;
  env[VARIABLES.relayCredential] = environment.relayCredential;
  env[VARIABLES.podNamespace] = environment.podNamespace;
  env[VARIABLES.podName] = environment.podName;
  env[VARIABLES.podUid] = environment.podUid;
  env[VARIABLES.podIps] = environment.podIps;
  const program: Program = { file: ownCommand[0] ?? "", args: [...ownCommand.slice(1), "relay-client"], env };
  return (callbacks) => {
    try {
      return start(program, callbacks);
    } catch (error) {
      const reason = error instanceof Error ? error.message : "cannot be started";
      setTimeout(() => callbacks.onEnd(reason), 0);
      return { write: () => {}, kill: () => {} };
    }
  };
}

function start(program: Program, callbacks: ClientCallbacks): ClientProcess {
  let isOpen = true;
  const finish = (reason: string): void => {
    if (!isOpen) return;
    isOpen = false;
    callbacks.onEnd(reason);
  };
  const child = spawn(program.file, [...program.args], { env: program.env, stdio: ["pipe", "pipe", "ignore"] });
  child.on("error", (error) => finish(error.message));
  child.on("close", (code: number | null) => finish(code === null ? "killed" : `status ${code}`));
  child.stdout.on("data", (chunk: Buffer) => callbacks.onOutput(chunk));
  // Without a listener, EPIPE after the client's exit would end the manager.
  child.stdin.on("error", () => {});
  return {
    write: (line) => {
      if (isOpen) child.stdin.write(line);
    },
    kill: () => {
      child.kill("SIGKILL");
    },
  };
}
