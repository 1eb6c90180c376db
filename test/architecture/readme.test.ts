/** The README is short, and long tables are in the reference. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
/** Four minutes of reading. */
const LONGEST_README_WORDS = 900;
const LONGEST_TABLE_ROWS = 8;

test("the README is short enough to be read completely", () => {
  expect(readme.split(/\s+/).filter((word) => word !== "").length).toBeLessThanOrEqual(LONGEST_README_WORDS);
});

test("every table of the README is short", () => {
  const tables = readme.match(/(?:^\|.*\n)+/gm) ?? [];
  const rows = tables.map((table) => table.trim().split("\n").length - 2);
  expect(rows.length).toBeGreaterThan(0);
  expect(Math.max(...rows)).toBeLessThanOrEqual(LONGEST_TABLE_ROWS);
});

test.for(["npm ci && npm run demo", "npm ci && npm test"])("one code block of the README is: %s", (command) => {
  expect(readme).toContain(`\n\`\`\`\n${command}\n\`\`\`\n`);
});
