import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GENERATED_FILES } from "../../src/generate/generated-files.ts";

const ROOT = join(import.meta.dirname, "../..");

test.for(GENERATED_FILES)("the generated file $path is up to date; npm run generate writes it", ({ path, render }) => {
  const file = join(ROOT, path);
  const current = existsSync(file) ? readFileSync(file, "utf8") : "";
  expect(current).toBe(render(current));
});

test("a page without the markers of a generated section is an error", () => {
  const page = GENERATED_FILES.find(({ path }) => path === "docs/reference/reasons.md");
  expect(() => page?.render("no marks here")).toThrow("docs/reference/reasons.md: cannot find a section between");
});
