import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.e2e.ts"],
    // The harness's own cases have no cluster yet.
    globalSetup: process.env["LASTCALL_E2E"] === undefined ? [] : ["with-lastcall.ts"],
    // One cluster, two cores: cases beside each other would measure each other.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: ["verbose"],
  },
});
