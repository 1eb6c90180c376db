import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { PartOrder } from "./run/part-order.ts";

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    include: ["test/programs/**/*.program.ts"],
    globalSetup: ["test/native-build.ts", "test/programs/run/preload-build.ts", "test/programs/run/leftovers.ts"],
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // Programs use fixed ports, and cases measure time, so test files run one after the other.
    fileParallelism: false,
    maxConcurrency: 3,
    // Each rollout starts several Node programs, which share the compile cache.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "../../build/compile-cache") },
    sequence: { hooks: "stack", sequencer: PartOrder },
  },
});
