import { defineConfig } from "vitest/config";

/** Stryker uses this configuration in a copy of the project, for one room at a time; see `main.ts`. */
// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    include: (process.env["LASTCALL_MUTATED_TESTS"] ?? "").split(" "),
    globalSetup: ["test/commit-seed.ts"],
    setupFiles: ["test/seeded.ts"],
    // Instrumented source is several times slower. Stryker ends hanging runs itself.
    testTimeout: 60_000,
  },
});
