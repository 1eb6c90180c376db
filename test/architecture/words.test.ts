/** Pages, chart and source use plain words and the terms of the field. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** Vague or unusual words. */
const REFUSED_WORDS = /\b(?:somebody|nobody|everybody|whoever|anew)\b/gi;
const CODE_SPAN = /`[^`\n]*`/g;
const refusedWordsIn = (text: string): readonly string[] => text.match(REFUSED_WORDS) ?? [];
const refusedWordsOnPage = (text: string): readonly string[] => refusedWordsIn(text.replace(CODE_SPAN, ""));

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

test.for(pages)("the page %s does not contain vague words", (file) => {
  expect(refusedWordsOnPage(readFileSync(join(ROOT, file), "utf8"))).toEqual([]);
});

test.for(programs)("the code and the comments of the source file %s do not contain vague words", (file) => {
  expect(refusedWordsIn(readFileSync(join(ROOT, file), "utf8"))).toEqual([]);
});

/** A quoted word in tests and tools is a name, such as that of a user. */
const QUOTED_WORD = /"[a-z]+"/g;

/** Private words that have a standard term. Each part of a camelCase name counts as a word. */
const PRIVATE_WORDS = new Set(
  [
    "say says said saying tell tells told telling hear hears heard hearing knows knew learns question questions",
    "judge judges judged tally calm untold unfollowed witness guest guests stranger strangers neighbour neighbours",
    "keeper keepsake hopelessness farewell goodbye economy verdict pulse pulses beats meter meters figure figures",
    "begun awake brought",
  ].flatMap((line) => line.split(" ")),
);
const FREE_RELATIVE = /(?:\/\*\*?|\/\/|^\s*\*) (?:What|Who|Whom|Whose|Why|How|Whatever|Whichever)\b/gm;
/** Terms of other programs, and an argument in a fixture, that contain private words. */
const ALLOWED_WORDS = /question marks?|loopback_users\.guest|--say=/g;
const RULES = ["test/architecture/words.test.ts", "test/commit-subjects.ts", "test/commit-subjects.test.ts"];
const wordsOf = (text: string): readonly string[] =>
  text
    .replace(ALLOWED_WORDS, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[a-z]+/g) ?? [];
const privateWordsIn = (text: string): readonly string[] => [
  ...wordsOf(text).filter((word) => PRIVATE_WORDS.has(word)),
  ...(text.match(FREE_RELATIVE) ?? []),
];

test.for([
  "src",
  "test",
  "e2e",
  "bench",
  "release",
  "certs",
  "docs",
  "changes",
  "examples",
  "native/build",
  "native/preload",
  "charts/lastcall",
])("the names, comments and messages of %s do not contain project jargon", (folder) => {
  const files = filesIn(folder).filter(
    (file) => !(file.includes("node_modules/") || RULES.includes(file) || /\.(?:json|jsonl|svg|png|sum)$/.test(file)),
  );
  const found = files.map((file) => [file, privateWordsIn(readFileSync(join(ROOT, file), "utf8"))] as const);
  expect(found.filter(([, words]) => words.length > 0)).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
});

test.for([
  ["/** What the relay says. */", 2],
  ["const takeVerdict = witnessOf(socket);", 2],
  ["// Whether the client has closed the connection.", 0],
] as const)("the rule about jargon and about openings of comments counts its matches in: %s", ([text, found]) => {
  expect(privateWordsIn(text)).toHaveLength(found);
});

test.for(["test", "e2e", "bench", "native", "release"])("the files of %s do not contain vague words", (folder) => {
  const textFiles = filesIn(folder).filter(
    (file) =>
      /\.(?:ts|mjs|md|c|h|sh|py|go)$/.test(file) &&
      !file.includes("/node_modules/") &&
      !import.meta.filename.endsWith(file),
  );
  const texts = textFiles.map((file) => [file, readFileSync(join(ROOT, file), "utf8")] as const);
  const found = texts.filter(([, text]) => refusedWordsIn(text.replace(QUOTED_WORD, "")).length > 0);
  expect(found.map(([file]) => file)).toEqual([]);
  expect(textFiles.length).toBeGreaterThan(0);
});

test.for([
  ["A Pod that\nnobody calls.", 1],
  ["Whoever reads it, and somebody else, start anew.", 3],
  ["No `nobody` here: the user of that name.", 0],
] as const)("the rule about vague words counts its matches in: %s", ([text, found]) => {
  expect(refusedWordsOnPage(text)).toHaveLength(found);
});
