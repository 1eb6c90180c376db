import { defineConfig } from "vitest/config";

/** Stryker runs it in a copy of the project, for one room at a time; see `main.ts`. */
// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    include: (process.env["LASTCALL_MUTATED_TESTS"] ?? "").split(" "),
    globalSetup: ["test/commit-seed.ts"],
    setupFiles: ["test/seeded.ts"],
    // Source with every mutant in it is several times slower. What hangs, Stryker ends by itself.
    testTimeout: 60_000,
  },
});
