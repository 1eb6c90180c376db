/** Entry point of the native build. Does not run on Node; see node-main.ts. */
import { nativeFlagPage, nativeLibc, nativePortGuard, unmapStartupCode } from "./native-libc.ts";
import { processPlatform } from "./process-platform.ts";
import { runManager } from "./program.ts";

const FAR_MS = 1_000_000_000;

const build = {
  libc: nativeLibc,
  portGuard: nativePortGuard,
  flagPage: nativeFlagPage,
  ownCommand: [process.execPath],
  onStarted: unmapStartupCode,
};

runManager(process.argv.slice(2), processPlatform(build), (onStop) => {
  // Without a timer the native runtime wakes up every second. With a timer far in the future it sleeps until an event.
  setInterval(() => {}, FAR_MS);
  process.on("SIGTERM", () => onStop());
  process.on("SIGINT", () => onStop());
});
