/** The manager as one static binary: libc is bound by the compiler. Does not run on Node; node-main.ts does. */
import { nativeFlagPage, nativeLibc, nativePortGuard, unmapStart } from "./native-libc.ts";
import { processOutside } from "./process-outside.ts";
import { runManager } from "./program.ts";

/** Eleven days. */
const FAR_MS = 1_000_000_000;

const build = {
  libc: nativeLibc,
  portGuard: nativePortGuard,
  flagPage: nativeFlagPage,
  self: [process.execPath],
  onIdle: unmapStart,
};

runManager(process.argv.slice(2), processOutside(build), (onStop) => {
  // Without any timer this runtime wakes up every second to look for one; with a far one it sleeps until called.
  setInterval(() => {}, FAR_MS);
  process.on("SIGTERM", () => onStop());
  process.on("SIGINT", () => onStop());
});
