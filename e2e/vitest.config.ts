import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.e2e.ts"],
    // Without LASTCALL_E2E only the cases in harness/ run, which start their clusters themselves.
    globalSetup: process.env["LASTCALL_E2E"] === undefined ? [] : ["with-lastcall.ts"],
    // The cases share one cluster and two cores, so parallel cases would disturb each other.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // By default, values longer than 40 characters are truncated in titles.
    taskTitleValueFormatTruncate: 200,
    reporters: ["verbose"],
  },
});
