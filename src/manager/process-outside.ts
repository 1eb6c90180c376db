/** The outside of a real process, for the mains. The only reader of the manager's environment. */
import { environmentOf, type Outside } from "./outside.ts";
import type { Libc } from "./ports.ts";
import { readTextFile } from "./read-text.ts";

/** The two builds differ in nothing but the C library and `self`: how the program starts itself once more. */
export function processOutside(libc: Libc, self: readonly string[]): Outside {
  return {
    environment: environmentOf((name) => process.env[name]),
    self,
    libc,
    readText: readTextFile,
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
