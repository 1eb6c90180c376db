/** The outside of a real process, for the mains. The only reader of the manager's environment. */
import { environmentOf, type Outside } from "./outside.ts";
import type { Libc } from "./ports.ts";
import { readTextFile } from "./read-text.ts";

/** @param libc the one thing in which the two builds differ */
export function processOutside(libc: Libc): Outside {
  return {
    environment: environmentOf((name) => process.env[name]),
    libc,
    readText: readTextFile,
    nowMs: () => performance.now(),
    log: (line) => {
      process.stdout.write(`${line}\n`);
    },
    complain: (line) => {
      process.stderr.write(`${line}\n`);
    },
    exit: (code) => process.exit(code),
  };
}
