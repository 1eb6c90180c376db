/** Paths in sources, comments and pages exist: otherwise only the slowest suite, or a reader, would find an outdated path. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** Paths that these tests do not check: outputs of programs, packages, and the examples in tests of this folder. */
const EXCLUDED_PATHS = /^(build|certs\/out|coverage|release\/lastcall|test\/architecture)(\/|$)|(^|\/)node_modules\//;
const FOLDERS = "bench|certs|chart|docs|e2e|examples|native|release|src|test";
const FROM_ROOT = new RegExp(`^(${FOLDERS})/[\\w./-]+\\.(c|h|js|json|md|mjs|patch|sh|ts|yaml)$`);

/** The literal paths in a source: relative to its folder, and to the project's root. */
function pathsIn(file: string, text: string): readonly string[] {
  const joinCalls = [...text.matchAll(/\b(?:join|resolve)\(\s*import\.meta\.dirname,((?:\s*"[^"]*",?)+)\s*\)/g)];
  const urlCalls = [...text.matchAll(/new URL\(\s*"([^"]*)",\s*import\.meta\.url\s*\)/g)];
  return [
    ...joinCalls.map(([, parts = ""]) =>
      join(dirname(file), ...[...parts.matchAll(/"([^"]*)"/g)].map(([, part]) => part ?? "")),
    ),
    ...urlCalls.map(([, path = ""]) => join(dirname(file), path)),
    ...[...text.matchAll(/"([^"\n]+)"/g)].flatMap(([, words = ""]) => (FROM_ROOT.test(words) ? [words] : [])),
  ];
}

const missingPaths = (file: string, text: string): readonly string[] =>
  pathsIn(file, text).filter((path) => !EXCLUDED_PATHS.test(path) && !existsSync(join(ROOT, path)));

const SOURCES = globSync(`{${FOLDERS.replaceAll("|", ",")}}/**/*.{ts,mjs}`, { cwd: ROOT }).filter(
  (file) => !EXCLUDED_PATHS.test(file),
);

test("every literal path in a source file exists", () => {
  const named = SOURCES.map((file) => [file, readFileSync(join(ROOT, file), "utf8")] as const);
  expect(named.flatMap(([file, text]) => pathsIn(file, text)).length).toBeGreaterThan(100);
  expect(named.flatMap(([file, text]) => missingPaths(file, text).map((path) => `${file} names ${path}`))).toEqual([]);
});

const PAGES = globSync(["*.md", `{${FOLDERS.replaceAll("|", ",")}}/**/*.md`], { cwd: ROOT }).filter(
  (file) => !(EXCLUDED_PATHS.test(file) || file === "CHANGELOG.md"),
);

/** Returns the backquoted source files of a text, which may be ends of paths: `drain/pace.ts`. */
const sourceNamesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([\w./-]*\w\.ts)`/g)].map(([, path = ""]) => path.replace(/^(\.\.?\/)+/, ""));

const existingNames = (): ReadonlySet<string> =>
  new Set(
    [...SOURCES, ...globSync(["*.ts", "test/architecture/*.ts"], { cwd: ROOT })].flatMap((file) => {
      const parts = file.split("/");
      return parts.map((_, index) => parts.slice(index).join("/"));
    }),
  );

test("every source file that a comment or a page names exists", () => {
  const names = existingNames();
  const named = [...SOURCES, ...PAGES].flatMap((file) =>
    sourceNamesIn(readFileSync(join(ROOT, file), "utf8")).map((name) => ({ file, name })),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !names.has(name))).toEqual([]);
});

test.for([
  'join(import.meta.dirname, "../no-such/attacker.ts")',
  'join(import.meta.dirname, "..", "no-such-file.ts")',
  'new URL("./no-such-file.ts", import.meta.url)',
  `args: ["${["test", "no-such-file.ts"].join("/")}"]`,
])("the rule about paths finds the missing file in: %s", (line) => {
  expect(missingPaths("test/clock/x.ts", line)).toHaveLength(1);
});
