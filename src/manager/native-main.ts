/** The manager as one static binary: libc is bound by the compiler. Does not run on Node; node-main.ts does. */

import { environmentOf } from "./outside.ts";
import type { Libc } from "./ports.ts";
import { runManager } from "./program.ts";
import { readTextFile } from "./read-text.ts";

declare function cSocket(domain: number, type: number, protocol: number): number;
declare function cSend(fd: number, bytes: Uint8Array, flags: number): number;
declare function cRecv(fd: number, bytes: Uint8Array, flags: number): number;
declare function cConnect(fd: number, address: Uint8Array): number;
declare function cSetsockopt(fd: number, level: number, name: number, value: Uint8Array): number;
declare function cClose(fd: number): number;

/** Eleven days. */
const FAR_MS = 1_000_000_000;

const libc: Libc = {
  available: true,
  socket: (domain, type, protocol) => cSocket(domain, type, protocol),
  send: (fd, bytes, flags) => cSend(fd, bytes, flags),
  recv: (fd, bytes, flags) => cRecv(fd, bytes, flags),
  connect: (fd, address) => cConnect(fd, address),
  setsockopt: (fd, level, name, value) => cSetsockopt(fd, level, name, value),
  close: (fd) => cClose(fd),
};

runManager(
  process.argv.slice(2),
  {
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
  },
  (onStop) => {
    // Without any timer this runtime wakes up every second to look for one; with a far one it sleeps until called.
    setInterval(() => {}, FAR_MS);
    process.on("SIGTERM", () => onStop());
    process.on("SIGINT", () => onStop());
  },
);
