/** The outside of a real process, for the mains. The only reader of the manager's environment. */
import { environmentOf, type Outside } from "./outside.ts";
import type { FlagPage, Libc, PortGuard } from "./ports.ts";
import { readTextFile, scanTextFile } from "./read-text.ts";

type Build = {
  readonly libc: Libc;
  readonly portGuard: PortGuard;
  readonly flagPage: FlagPage;
  readonly self: readonly string[];
  readonly onIdle: () => void;
};

/** The two builds differ in nothing but the C library, what is reached through it, and how the program starts itself once more. */
export function processOutside({ libc, portGuard, flagPage, self, onIdle }: Build): Outside {
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
    complain: (line) => {
      process.stderr.write(`${line}\n`);
    },
    exit: (code) => process.exit(code),
  };
}
