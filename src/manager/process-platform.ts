/** Implements the platform with Node's process API. Only this file reads environment variables. */
import { environmentOf, type Platform } from "./platform.ts";
import type { FlagPage, Libc, PortGuard } from "./ports.ts";
import { readTextFile, scanTextFile } from "./read-text.ts";

type Build = {
  readonly libc: Libc;
  readonly portGuard: PortGuard;
  readonly flagPage: FlagPage;
  readonly ownCommand: readonly string[];
  readonly onStarted: () => void;
};

export function processPlatform({ libc, portGuard, flagPage, ownCommand, onStarted }: Build): Platform {
  return {
    environment: environmentOf((name) => process.env[name]),
    ownCommand,
    libc,
    portGuard,
    flagPage,
    onStarted,
    readText: readTextFile,
    scanText: scanTextFile,
    nowMs: () => performance.now(),
    readInput: (onChunk, onEnd) => {
      process.stdin.on("data", (chunk: Buffer) => onChunk(chunk));
      process.stdin.on("end", () => onEnd());
      process.stdin.on("error", () => onEnd());
    },
    log: (line) => {
      process.stdout.write(`${line}\n`);
    },
    printError: (line) => {
      process.stderr.write(`${line}\n`);
    },
    exit: (code) => process.exit(code),
  };
}
