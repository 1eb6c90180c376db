/**
 * The manager on Node, as a test starts it: what Node compiled once is not compiled again. It starts hundreds of times,
 * often without an environment that could say so, and starts itself once more as the relay's client. Plain JavaScript,
 * since nothing is kept of this file itself: the compiler of types would be loaded for it alone.
 */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

enableCompileCache(join(import.meta.dirname, "../../build/compile-cache"));
await import("../../src/manager/node-main.ts");
// Where it follows the clock of a test: it has started.
globalThis.lastcallTestClock?.ready();
