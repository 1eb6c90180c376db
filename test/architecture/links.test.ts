/** Every relative link of a page has an existing file and heading as its target. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf, relativeLinks } from "./markdown-links.ts";

const ROOT = join(import.meta.dirname, "../..");
const EXCLUDED_FOLDERS = /(^|\/)(node_modules|build|\.git)(\/|$)/;

function pagesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (EXCLUDED_FOLDERS.test(path)) return [];
    if (entry.isDirectory()) return pagesBelow(path);
    return path.endsWith(".md") ? [path] : [];
  });
}

function brokenLinks(page: string, text: string): readonly string[] {
  return relativeLinks(text)
    .filter(({ path, anchor }) => {
      const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
      if (!existsSync(target)) return true;
      return anchor !== "" && target.endsWith(".md") && !anchorsOf(readFileSync(target, "utf8")).has(anchor);
    })
    .map((link) => link.text);
}

test.for(pagesBelow("."))("every link in the page %s has an existing target", (page) => {
  expect(brokenLinks(page, readFileSync(join(ROOT, page), "utf8"))).toEqual([]);
});

/** Readers find pages through the indexes, except for the decisions, which readers find in their folder. */
test("the indexes have links to every page in docs", () => {
  const linkedPages = ["docs/README.md", "docs/reference/README.md"].flatMap((index) =>
    relativeLinks(readFileSync(join(ROOT, index), "utf8")).map(({ path }) => join(dirname(index), path)),
  );
  const pages = pagesBelow("docs").filter((page) => !page.startsWith("docs/decisions/") && page !== "docs/README.md");
  expect(pages.filter((page) => !linkedPages.includes(page))).toEqual([]);
});

test.for([
  ["[missing](missing.md)", ["missing.md"]],
  ["[install](README.md#install) and [not](README.md#no-such-heading)", ["README.md#no-such-heading"]],
  ["![picture](missing.svg) and [another site](https://example.org/missing.md)", ["missing.svg"]],
  ["[here](#a-heading)\n\n[there]: missing.md\n", ["#a-heading", "missing.md"]],
  ["`[code](missing.md)`\n\n```\n[code](missing.md)\n```\n", []],
] as const)("the rule about links reports the missing targets in: %s", ([text, broken]) => {
  expect(brokenLinks("SECURITY.md", text)).toEqual(broken);
});

test("anchors of headings are computed as on GitHub", () => {
  const page =
    "# A `code` word\n## When lastcall's namespace was deleted\n## Twice\n## Twice\n```\n# no heading\n```\n";
  expect([...anchorsOf(page)]).toEqual(["a-code-word", "when-lastcalls-namespace-was-deleted", "twice", "twice-1"]);
});

/** npx would run the package `lastcall` of the npm registry, which can belong to another project. */
test("pages do not run lastcall through npx", () => {
  const users = pagesBelow(".").filter((page) =>
    /^npx lastcall|`npx lastcall [a-z]/m.test(readFileSync(join(ROOT, page), "utf8")),
  );
  expect(users).toEqual([]);
});
