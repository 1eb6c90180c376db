import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { cyclesIn } from "./cycles.ts";
import { COMPOSERS, EXCEPTIONS, FOLDERS, ONLY_IMPORTERS, ROOMS } from "./rooms.ts";

const SRC = join(import.meta.dirname, "../../src");
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

/** Static value imports, side-effect imports and dynamic imports. */
const IMPORTS = [
  /^(?:import|export)\s(?!type\s)[^'"]*?from\s"([^"]+)"/gm,
  /^import\s"([^"]+)"/gm,
  /import\("([^"]+)"\)/g,
];

function targetsOf(source: string): readonly string[] {
  return IMPORTS.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] ?? ""));
}

/** Includes type imports, because they also determine the order in which a reader needs the files. */
const ALL_IMPORTS = [/^(?:import|export)\s[^'"]*?from\s"(\.[^"]+)"/gm, /import\("(\.[^"]+)"\)/g];

function importedFiles(file: string): readonly string[] {
  const source = readFileSync(join(SRC, file), "utf8");
  return ALL_IMPORTS.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] ?? ""))
    .map((target) => relative(SRC, join(SRC, dirname(file), target)))
    .filter((imported) => imported.endsWith(".ts"));
}

/** Returns the file's folder, or, for a file directly in a room, the file itself. */
function folderOf(file: string): string {
  return file.split("/").length > 2 ? dirname(file) : file;
}

const importsByFile = files.map((file) => [file, importedFiles(file)] as const);
const importsByFolder = importsByFile.map(
  ([file, imported]) => [folderOf(file), imported.map(folderOf).filter((place) => place !== folderOf(file))] as const,
);

test("neither files nor folders import each other in a cycle, types included", () => {
  expect([importsByFile, importsByFolder].flatMap(cyclesIn)).toEqual([]);
});

test("the search for import cycles finds a cycle, but not in a tree", () => {
  const tree = [["a", ["b", "c"]] as const, ["b", ["c"]] as const];
  expect(cyclesIn(tree)).toEqual([]);
  expect(cyclesIn([...tree, ["c", ["a"]] as const])).toEqual([["a", "b", "c"]]);
});

const importsWithinRooms = importsByFile.flatMap(([file, imported]) => {
  const from = folderOf(file);
  if (from.endsWith(".ts")) return [];
  return imported.filter((to) => roomOf(to) === roomOf(file)).map((to) => ({ file, from, to: folderOf(to) }));
});

test("a folder of src imports only allowed folders of the same program", () => {
  const forbiddenImports = importsWithinRooms.filter(
    ({ from, to }) => from !== to && !(FOLDERS[from] ?? []).includes(to),
  );
  expect(forbiddenImports).toEqual([]);
});

test("every allowed import of a folder is used", () => {
  const usedImports = new Set(importsWithinRooms.map(({ from, to }) => `${from} -> ${to}`));
  const allowedImports = Object.entries(FOLDERS).flatMap(([from, places]) => places.map((to) => `${from} -> ${to}`));
  expect(allowedImports.filter((each) => !usedImports.has(each))).toEqual([]);
});

function roomOf(path: string): string {
  return path.split("/")[0] ?? "";
}

function isAllowed(file: string, target: string): boolean {
  const room = roomOf(file);
  const rule = ROOMS[room];
  if (rule === undefined) return false;
  if (target.startsWith("node:")) return rule.io;
  if (target.startsWith(".")) {
    const importedRoom = roomOf(relative(SRC, join(SRC, dirname(file), target)));
    return importedRoom === room || rule.rooms.includes(importedRoom) || (COMPOSERS[file] ?? []).includes(importedRoom);
  }
  return rule.npm.includes(target) || (EXCEPTIONS[file] ?? []).includes(target);
}

describe("a file imports only what its part of src is allowed to import", () => {
  test.for(files)("%s", (file) => {
    const targets = targetsOf(readFileSync(join(SRC, file), "utf8"));
    expect(targets.filter((target) => !isAllowed(file, target))).toEqual([]);
  });
});

test("an npm package with a single allowed importer does not have a second importer", () => {
  for (const [name, allowedImporter] of Object.entries(ONLY_IMPORTERS)) {
    const importers = files.filter(
      (file) =>
        roomOf(file) === roomOf(allowedImporter) && targetsOf(readFileSync(join(SRC, file), "utf8")).includes(name),
    );
    expect(importers).toEqual([allowedImporter]);
  }
});

test("the rules about imports reject forbidden imports", () => {
  expect(isAllowed("injection/plan.ts", "node:fs")).toBe(false);
  expect(isAllowed("manager/runner.ts", "../policy/resolve.ts")).toBe(false);
  expect(isAllowed("manager/runner.ts", "koffi")).toBe(false);
  expect(isAllowed("cli/main.ts", "../webhook/server.ts")).toBe(false);
  expect(isAllowed("webhook/server.ts", "../relay/serve.ts")).toBe(false);
  expect(isAllowed("webhook/optional-parts.ts", "../relay/serve.ts")).toBe(true);
  expect(isAllowed("policy/resolve.ts", "yaml")).toBe(false);
  expect(
    targetsOf('import { a,\n b } from "x";\nimport "y";\nawait import("z");\nimport type { T } from "t";'),
  ).toEqual(["x", "y", "z"]);
});

test("no source file has a meaningless name such as utils", () => {
  const vagueNames = /(^|\/)(utils?|helpers?|common|misc|types|constants|index|shared|lib)\.ts$/;
  expect(files.filter((file) => vagueNames.test(file))).toEqual([]);
});
