import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
};
const readme = readFileSync(join(ROOT, "README.md"), "utf8");

test("every run-time package has one line of reason in the README", () => {
  const missing = Object.keys(manifest.dependencies).filter((name) => !readme.includes(`- \`${name}\`: `));
  expect(missing).toEqual([]);
});

test("the README gives no reason for a package that is not there", () => {
  const section = readme.slice(readme.indexOf("## Packages"));
  const listed = [...section.matchAll(/^- `([^`]+)`: /gm)].map((match) => match[1]);
  expect(listed.sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

test("every version is exact", () => {
  const versions = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  expect(Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("the lock file names no registry", () => {
  expect(readFileSync(join(ROOT, "package-lock.json"), "utf8")).not.toContain('"resolved"');
});
