/** The page about the coverage of the injection tests quotes only existing test titles and golden cases. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listGoldenNames } from "../golden/corpus.ts";

const TEST = join(import.meta.dirname, "..");
const ELLIPSIS = " …";

const page = readFileSync(join(TEST, "injection/README.md"), "utf8");
const sources = ["injection", "golden"]
  .flatMap((folder) => readdirSync(join(TEST, folder)).map((file) => join(TEST, folder, file)))
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => readFileSync(file, "utf8"))
  .join("");

const titles = [...page.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title);
/** The backquoted names after the word golden, up to the end of the cell or the next kind of test. */
const cases = [...page.matchAll(/\bgolden (`[^|;(]*)/g)].flatMap(([, list = ""]) =>
  [...list.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
);

const isTitle = (quoted: string): boolean =>
  sources.includes(quoted.endsWith(ELLIPSIS) ? `"${quoted.slice(0, -ELLIPSIS.length)}` : `"${quoted}"`);
const isCase = (name: string): boolean =>
  listGoldenNames().some((golden) => (name.endsWith("*") ? golden.startsWith(name.slice(0, -1)) : golden === name));

test("every title that test/injection/README.md quotes is a test's title", () => {
  expect(titles.length).toBeGreaterThan(20);
  expect(titles.filter((title) => !isTitle(title))).toEqual([]);
});

test("every golden case that test/injection/README.md names exists", () => {
  expect(cases.length).toBeGreaterThan(80);
  expect(cases.filter((name) => !isCase(name))).toEqual([]);
});
