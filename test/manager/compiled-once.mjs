/**
 * Starts the manager on Node with a compile cache. Tests start it hundreds of times, often without an environment that
 * could enable the cache. JavaScript, because this file itself is not cached, and stripping types would load the compiler.
 */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

enableCompileCache(join(import.meta.dirname, "../../build/compile-cache"));
await import("../../src/manager/node-main.ts");
// Defined only if the manager runs on a test clock.
globalThis.lastcallTestClock?.ready();
