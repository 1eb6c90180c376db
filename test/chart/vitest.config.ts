import { join } from "node:path";
import { defineConfig } from "vitest/config";

// These tests have their own configuration, because they need Helm, which is built from source the first time.
// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    root: join(import.meta.dirname, "../.."),
    include: ["test/chart/**/*.chart.ts"],
    globalSetup: [join(import.meta.dirname, "helm-binary.ts")],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
