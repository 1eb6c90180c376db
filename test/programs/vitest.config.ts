import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { PartOrder } from "./run/part-order.ts";

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    include: ["test/programs/**/*.program.ts"],
    globalSetup: ["test/native-build.ts", "test/programs/run/preload-build.ts", "test/programs/run/leftovers.ts"],
    // Installing a program may have to download it; a case itself takes seconds.
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // Programs own ports, namespaces and the processor: one file at a time, and no case beside another.
    fileParallelism: false,
    // Only cases that say so run beside others: those that mostly wait.
    maxConcurrency: 3,
    // Each rollout starts programs of Node; what was compiled once is not compiled again.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "../../build/compile-cache") },
    sequence: { hooks: "stack", sequencer: PartOrder },
  },
});
