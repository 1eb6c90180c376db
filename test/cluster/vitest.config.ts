import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.e2e.ts"],
    // One cluster, two cores: cases beside each other would measure each other.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: ["verbose"],
  },
});
