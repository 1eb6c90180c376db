import { join } from "node:path";
import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/lean-client-build.ts", "test/native-build.ts"],
    // Process-level cases own ports, namespaces and clocks: they get one file at a time per worker and honest limits.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Most cases wait for real time: more workers than cores keep the cores busy.
    maxWorkers: 8,
    // Programs under test are started hundreds of times; what Node compiled once is not compiled again, and the largest
    // package is one file: half of the CPU.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, "build/compile-cache"),
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "test/lean-client.ts")}`,
    },
    sequence: { hooks: "stack" },
  },
});
