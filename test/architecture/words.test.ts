/** What people read is plain: the pages, the chart, and the source with every sentence that it writes. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** Each hides who is meant, or is no word that engineers use. */
const REFUSED = /\b(?:somebody|nobody|everybody|whoever|anew)\b/gi;
const CODE_SPAN = /`[^`\n]*`/g;
const refusedIn = (text: string): readonly string[] => text.match(REFUSED) ?? [];
const onPage = (text: string): readonly string[] => refusedIn(text.replace(CODE_SPAN, ""));

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file}`)
    .filter((file) => statSync(join(ROOT, file)).isFile());
}

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "GOVERNANCE.md",
  "CODE_OF_CONDUCT.md",
  ...["docs", "changes", "charts", "examples"].flatMap(filesIn),
];
const programs = filesIn("src").filter((file) => file.endsWith(".ts"));

test.for(pages)("%s says who is meant", (file) => {
  expect(onPage(readFileSync(join(ROOT, file), "utf8"))).toEqual([]);
});

test.for(programs)("%s says who is meant, in its comments too", (file) => {
  expect(refusedIn(readFileSync(join(ROOT, file), "utf8"))).toEqual([]);
});

/** Of the tests and the tools. A quoted word is a name, such as that of a user. */
const QUOTED_WORD = /"[a-z]+"/g;

test.for(["test", "e2e", "bench", "native", "release"])("the files of %s say who is meant", (folder) => {
  const written = filesIn(folder).filter(
    (file) =>
      /\.(?:ts|mjs|md|c|h|sh|py|go)$/.test(file) &&
      !file.includes("/node_modules/") &&
      !import.meta.filename.endsWith(file),
  );
  const texts = written.map((file) => [file, readFileSync(join(ROOT, file), "utf8")] as const);
  const found = texts.filter(([, text]) => refusedIn(text.replace(QUOTED_WORD, "")).length > 0);
  expect(found.map(([file]) => file)).toEqual([]);
  expect(written.length).toBeGreaterThan(0);
});

test.for([
  ["A Pod that\nnobody calls.", 1],
  ["Whoever reads it, and somebody else, start anew.", 3],
  ["No `nobody` here: the user of that name.", 0],
] as const)("the rule refuses what it is there to refuse: %s", ([text, found]) => {
  expect(onPage(text)).toHaveLength(found);
});
