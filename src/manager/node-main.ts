/** The manager on Node: `node src/manager/node-main.ts serve --port=…`. */
import { loadNodeLibc } from "./node-libc.ts";
import { processOutside } from "./process-outside.ts";
import { runManager } from "./program.ts";

const self = [process.execPath, process.argv[1] ?? ""];

runManager(process.argv.slice(2), processOutside(loadNodeLibc(), self), (onStop) => {
  // Whoever reads the log may go; the holds stay.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  process.on("SIGTERM", onStop);
  process.on("SIGINT", onStop);
});
