import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseServeFlags } from "../../src/contract/serve-flags.ts";
import { ANNOTATIONS, FIELDS } from "../../src/policy/annotation-table.ts";

test("every flag of the manager is an annotation, or is explained on the page of flags", () => {
  const [refusal] = parseServeFlags(["--no-such-flag"]).problems;
  const known = refusal?.message.split("known are ")[1]?.split(" ") ?? [];
  expect(known).toContain("--app-grace");
  const annotations = FIELDS.map((field) => `--${ANNOTATIONS[field].name}`);
  const page = readFileSync(new URL("../../docs/reference/flags.md", import.meta.url), "utf8");
  const section = page.slice(page.indexOf("## The manager"));
  const own = known.filter((flag) => !annotations.includes(flag));
  expect(own.filter((flag) => !section.includes(`| \`${flag}\` |`))).toEqual([]);
});
