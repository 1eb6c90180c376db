/** Code that depends on the driver reads the driver's table row. Only a driver's own code, the factory and the demo use drivers' names. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DRIVERS } from "../../src/contract/driver-table.ts";

const SRC = join(import.meta.dirname, "../../src");
const names = DRIVERS.map(({ name }) => name).join("|");
/** Matches comparisons of a driver with a driver's name, which may be on either side, or with a list of names. */
const NAME_COMPARISONS = [
  new RegExp(`\\bdriver\\w*(?:\\.name)?\\s*[!=]==?\\s*["'\`](?:${names})["'\`]`, "gi"),
  new RegExp(`["'\`](?:${names})["'\`]\\s*[!=]==?\\s*[\\w.]*driver\\b`, "gi"),
  new RegExp(`\\brow\\w*\\.name\\s*[!=]==?\\s*["'\`](?:${names})["'\`]`, "gi"),
  new RegExp(`\\[["'\`](?:${names})["'\`][^\\]]*\\]\\.includes\\([\\w.]*driver\\b`, "gi"),
  /switch \((?:[\w.]*\.)?driver(?:Name)?\)/gi,
];

/** Files that may use a driver's name, with the reason. */
const ALLOWED_FILES: readonly RegExp[] = [
  // The code of a driver.
  /^manager\/drivers\/[a-z]+\//,
  // Selects the demo's app.
  /^demo\//,
  // Creates the configured driver.
  /^manager\/manager-driver\.ts$/,
];

function nameComparisonsIn(text: string): readonly string[] {
  return NAME_COMPARISONS.flatMap((pattern) => text.match(pattern) ?? []);
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .filter((file) => !ALLOWED_FILES.some((owner) => owner.test(file)));

test.for(files)("the source file %s does not compare a driver's name with a literal", (file) => {
  expect(nameComparisonsIn(readFileSync(join(SRC, file), "utf8"))).toEqual([]);
});

test.for([
  ['if (settings.driver === "envoy") return 1;', 1],
  ['return working !== "none" && driver !== "http";', 1],
  ['const one = "istio" === settings.driver;', 1],
  ['["envoy", "istio"].includes(policy.driver)', 1],
  ["switch (settings.driver) {", 1],
  ['return row.name === "envoy" && isEnvoy(container);', 1],
  ['if (policy.driver !== "auto") return policy.driver;', 0],
  ["driverRow(settings.driver).callsApp", 0],
] as const)("the rule about driver names counts the comparisons in: %s", ([text, count]) => {
  expect(nameComparisonsIn(text)).toHaveLength(count);
});
