/** Entry point of the manager on Node: `node src/manager/node-main.ts serve --port=…`. */
import type { Server } from "node:http";
import { loadNodeFlagPage } from "./node-flag-page.ts";
import { loadNodeLibc } from "./node-libc.ts";
import { loadNodePortGuard } from "./node-port-guard.ts";
import { respondLikeNative } from "./node-server.ts";
import { processPlatform } from "./process-platform.ts";
import { runManager } from "./program.ts";

const ownCommand = [process.execPath, process.argv[1] ?? ""];
const guard = loadNodePortGuard();
const portGuard = {
  ...guard,
  attach: (server: Server) => {
    guard.attach(server);
    respondLikeNative(server);
  },
};
const build = {
  libc: loadNodeLibc(),
  portGuard,
  flagPage: loadNodeFlagPage(),
  ownCommand,
  onStarted: () => {},
};

runManager(process.argv.slice(2), processPlatform(build), (onStop) => {
  // Without these listeners, a closed log pipe would end the process and thereby all holds.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  process.on("SIGTERM", onStop);
  process.on("SIGINT", onStop);
});
