/** The manager on Node: `node src/manager/node-main.ts serve --port=…`. */
import {
  ORIGINAL_VARIABLE,
  POD_NAME_VARIABLE,
  POD_NAMESPACE_VARIABLE,
  TOKEN_VARIABLE,
} from "../contract/manager-environment.ts";
import { loadNodeLibc } from "./node-libc.ts";
import { runManager } from "./program.ts";
import { readTextFile } from "./read-text.ts";

runManager(
  process.argv.slice(2),
  {
    environment: {
      token: process.env[TOKEN_VARIABLE] ?? "",
      original: process.env[ORIGINAL_VARIABLE] ?? "",
      podName: process.env[POD_NAME_VARIABLE] ?? "",
      podNamespace: process.env[POD_NAMESPACE_VARIABLE] ?? "",
    },
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
