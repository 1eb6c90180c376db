/** Implements the platform with Node's process API. Only this file reads environment variables. */
import { environmentOf, type Platform } from "./platform.ts";
import type { FlagPage, Libc, PortGuard } from "./ports.ts";
import { readTextFile, scanTextFile } from "./read-text.ts";

type Build = {
  readonly libc: Libc;
  readonly portGuard: PortGuard;
  readonly flagPage: FlagPage;
  readonly self: readonly string[];
  readonly onIdle: () => void;
};

export function processPlatform({ libc, portGuard, flagPage, self, onIdle }: Build): Platform {
  return {
    environment: environmentOf((name) => process.env[name]),
    self,
    libc,
    portGuard,
    flagPage,
    onIdle,
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
