/** The versions in pages are the tested Kubernetes versions and the version of the package. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KUBERNETES_VERSIONS } from "../../e2e/build/module-table.ts";
import { VERSION } from "../../src/contract/version.ts";

const read = (file: string): string => readFileSync(join(import.meta.dirname, "../..", file), "utf8");

test.for(Object.entries(KUBERNETES_VERSIONS))(
  "the support page lists Kubernetes %s as tested with %s",
  ([minor, patch]) => {
    const row = read("docs/support.md")
      .split("\n")
      .find((line) => line.startsWith("| 1.") && line.includes(minor));
    expect(row).toContain("tested here");
    expect(row).toContain(patch);
  },
);

test("the support page lists exactly the tested Kubernetes versions", () => {
  const tested = [...read("docs/support.md").matchAll(/^\| 1\.[^|]*\| tested here \(([^)]*)\)/gm)];
  expect(tested.flatMap(([, patches = ""]) => patches.split(", ")).sort()).toEqual(
    Object.values(KUBERNETES_VERSIONS).sort(),
  );
});

test("the README builds and installs images of this version", () => {
  const tags = [...read("README.md").matchAll(/lastcall-(?:webhook|manager):(\S+?)"/g)].map(([, tag]) => tag);
  expect(tags.length).toBeGreaterThan(0);
  expect(new Set(tags)).toEqual(new Set([VERSION]));
});

test("docs/command-line.md installs the package of this version", () => {
  expect(read("docs/command-line.md")).toContain(`./lastcall-${VERSION}.tgz\n`);
});
