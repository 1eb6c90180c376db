/** Compares the table of callers in docs/caller-authorization.md with the list that the tests use. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CALLERS, tableOf } from "./caller-authorization.ts";

test("docs/caller-authorization.md contains the table of the tested callers", () => {
  const document = readFileSync(new URL("../../docs/caller-authorization.md", import.meta.url), "utf8");
  expect(document).toContain(tableOf(CALLERS));
});
