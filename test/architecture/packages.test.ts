import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXCEPTIONS, ROOMS } from "./rooms.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const manifest = JSON.parse(read("package.json"));
const tools = JSON.parse(read("tools/package.json"));
const readme = read("README.md");

const nameOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";
const runTime = [
  ...new Set([...Object.values(ROOMS).flatMap(({ npm }) => npm), ...Object.values(EXCEPTIONS).flat()].map(nameOf)),
].sort();

test("the README has a reason for every run-time package", () => {
  const missingPackages = runTime.filter((name) => !readme.includes(`- \`${name}\`: `));
  expect(missingPackages).toEqual([]);
});

test("the README does not have a reason for a removed package", () => {
  const section = readme.slice(readme.indexOf("## Packages"));
  const listedPackages = [...section.matchAll(/^- `([^`]+)`: /gm)].map((match) => match[1]);
  expect(listedPackages.sort()).toEqual(runTime);
});

test("the bundle contains every run-time package, so an installation does not add another package", () => {
  expect(Object.keys(manifest).filter((key) => /ependencies$/.test(key))).toEqual(["devDependencies"]);
  expect(runTime.filter((name) => !(name in manifest.devDependencies))).toEqual([]);
});

test("every version in package.json is exact", () => {
  const versions: Record<string, string> = { ...manifest.devDependencies, ...tools.optionalDependencies };
  expect(Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("the lock file does not contain the address of a registry", () => {
  expect(read("package-lock.json")).not.toMatch(/"resolved": "(?!tools")/);
});
