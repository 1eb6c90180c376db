/** Commands in pages exist in package.json, and CONTRIBUTING lists each of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Record<string, string> };
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/command-line.md",
  "docs/support.md",
  "e2e/README.md",
];

test.for(PAGES)("every npm script in the page %s exists", (page) => {
  const commands = [...read(page).matchAll(/npm run ([a-z][a-z:0-9-]*)/g)].map((found) => found[1] ?? "");
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
});

test("CONTRIBUTING's table lists the commands of package.json", () => {
  const rows = [...read("CONTRIBUTING.md").matchAll(/^\| (`[a-z:0-9-]+`(?:, `[a-z:0-9-]+`)*) \| .* \|$/gm)];
  const table = rows.slice(
    0,
    rows.findIndex(([, words]) => words === "`contract`"),
  );
  const named = table.flatMap(([, words = ""]) => words.split(", ").map((word) => word.replaceAll("`", "")));
  expect(named.sort()).toEqual(Object.keys(scripts).sort());
});
