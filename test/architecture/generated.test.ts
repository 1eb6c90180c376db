import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GENERATED_FILES } from "../../src/generate/generated-files.ts";

const ROOT = join(import.meta.dirname, "../..");

test.for(GENERATED_FILES)("$path is what the tables say; npm run generate writes it", ({ path, render }) => {
  const file = join(ROOT, path);
  const current = existsSync(file) ? readFileSync(file, "utf8") : "";
  expect(current).toBe(render(current));
});

test("a README without the marks of a section is refused", () => {
  const readme = GENERATED_FILES.find(({ path }) => path === "README.md");
  expect(() => readme?.render("no marks here")).toThrow("no section between");
});
