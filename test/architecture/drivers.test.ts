/** A rule that depends on a driver reads the driver's row: only its own code, its maker and its recognition name it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DRIVERS } from "../../src/contract/driver-table.ts";

const SRC = join(import.meta.dirname, "../../src");
const names = DRIVERS.map(({ name }) => name).join("|");
/** A comparison of anything called a driver with a driver's name, either way round, or a list of such. */
const BRANCHES = [
  new RegExp(`\\bdriver\\w*(?:\\.name)?\\s*[!=]==?\\s*["'\`](?:${names})["'\`]`, "gi"),
  new RegExp(`["'\`](?:${names})["'\`]\\s*[!=]==?\\s*[\\w.]*driver\\b`, "gi"),
  new RegExp(`\\brow\\w*\\.name\\s*[!=]==?\\s*["'\`](?:${names})["'\`]`, "gi"),
  new RegExp(`\\[["'\`](?:${names})["'\`][^\\]]*\\]\\.includes\\([\\w.]*driver\\b`, "gi"),
  /switch \((?:[\w.]*\.)?driver(?:Name)?\)/gi,
];

/** Each with what it decides. */
const OWNERS: readonly RegExp[] = [
  // The code of a driver.
  /^manager\/drivers\/[a-z]+\//,
  // Which of the demo's apps runs.
  /^demo\//,
  // Makes the driver that settings name.
  /^manager\/manager-driver\.ts$/,
];

function branchesIn(text: string): readonly string[] {
  return BRANCHES.flatMap((pattern) => text.match(pattern) ?? []);
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .filter((file) => !OWNERS.some((owner) => owner.test(file)));

test.for(files)("%s asks no driver for its name", (file) => {
  expect(branchesIn(readFileSync(join(SRC, file), "utf8"))).toEqual([]);
});

test.for([
  ['if (settings.driver === "envoy") return 1;', 1],
  ['return working !== "none" && driver !== "http";', 1],
  ['const one = "istio" === settings.driver;', 1],
  ['["envoy", "istio"].includes(policy.driver)', 1],
  ["switch (settings.driver) {", 1],
  ['return row.name === "envoy" && isEnvoy(container);', 1],
  ['if (policy.driver !== "auto") return policy.driver;', 0],
  ["driverRow(settings.driver).asksApp", 0],
] as const)("the rule refuses what it is there to refuse: %s", ([text, found]) => {
  expect(branchesIn(text)).toHaveLength(found);
});
