/** The manager on Node: `node src/manager/node-main.ts serve --port=…`. */
import { loadNodeLibc } from "./node-libc.ts";
import { environmentOf } from "./outside.ts";
import { runManager } from "./program.ts";
import { readTextFile } from "./read-text.ts";

runManager(
  process.argv.slice(2),
  {
    environment: environmentOf((name) => process.env[name]),
    libc: loadNodeLibc(),
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
    // Whoever reads the log may go; the holds stay.
    process.stdout.on("error", () => {});
    process.stderr.on("error", () => {});
    process.on("SIGTERM", onStop);
    process.on("SIGINT", onStop);
  },
);
