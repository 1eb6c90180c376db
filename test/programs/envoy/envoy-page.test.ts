import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSIONS } from "./envoy-cases.ts";
import { insertEnvoyTables, missingEnvoyCases } from "./envoy-page.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { SCENARIOS } from "./envoy-scenarios.ts";
import { GATEWAY_RESULTS } from "./gateway-results.ts";

const PAGE = new URL("../../../docs/envoy.md", import.meta.url);

const envoyResult = (scenario: string, version: string, overrides: Partial<EnvoyResult> = {}): EnvoyResult => ({
  kind: "envoy",
  system: `${scenario}, Envoy ${version}, native`,
  scenario,
  version,
  manager: "native",
  releasedSeconds: 7.06,
  afterTrafficSeconds: 2.06,
  overWaitSeconds: 0.06,
  stayedSeconds: 0,
  lagSeconds: 0,
  hookStatus: 200,
  hooksFailed: 0,
  answered: 100,
  failures: [],
  refused: 0,
  cut: 0,
  outcome: "drained",
  why: "",
  managerPeakKib: 1_024,
  ...overrides,
});

const allResults = SCENARIOS.flatMap(({ key }) => VERSIONS.map((version) => envoyResult(key, version)));
const page = "<!-- generated: against Envoy Gateway -->\nstale\n<!-- end of against Envoy Gateway -->\n";
const template = `${page}<!-- generated: protocols before Envoy -->\n<!-- end of protocols before Envoy -->\n`;

test("a row of the Envoy page compares Envoy Gateway's shutdown manager and lastcall for the same clients", () => {
  const writtenPage = insertEnvoyTables(template, allResults);
  expect(writtenPage).toContain(
    "| one idle HTTP/2 connection | 61.0 s | 61.0 s | failed | 0 | 7.1 s | 2.1 s | 200 | 0 of 100 |",
  );
  expect(writtenPage).not.toContain("stale");
});

test("a cell of the Envoy page counts failed requests and requests that Envoy refused before processing", () => {
  const lossyResults = allResults.map((result) =>
    result.scenario === "http2" && result.version === "1.36" ? { ...result, failures: ["reset"], refused: 2 } : result,
  );
  expect(insertEnvoyTables(template, lossyResults)).toContain("| 1 of 101 (2 refused and retried) |");
});

test("a session that stays open is listed as closed by force for both managers", () => {
  const cutResults = allResults.map((result) => (result.scenario === "tcp-stays" ? { ...result, cut: 1 } : result));
  expect(insertEnvoyTables(template, cutResults)).toContain(
    "| a TCP session that stays open | 61.0 s | – | failed | cut | 7.1 s | – | 200 | cut |",
  );
});

test("results of the manager on Node are absent from the Envoy page", () => {
  const nodeResult = envoyResult("none", "1.40", { manager: "node", managerPeakKib: 100_000, releasedSeconds: 99 });
  expect(insertEnvoyTables(template, [...allResults, nodeResult])).toBe(insertEnvoyTables(template, allResults));
});

test("a missing result is reported with its version of Envoy and its scenario", () => {
  expect(missingEnvoyCases(allResults)).toEqual([]);
  expect(missingEnvoyCases(allResults.slice(1))).toEqual([`Envoy ${VERSIONS[0]}, ${SCENARIOS[0]?.title}`]);
  expect(() => insertEnvoyTables(template, allResults.slice(1))).toThrow("no result of scenario none with Envoy 1.40");
});

test("every result of Envoy Gateway belongs to a scenario", () => {
  const keys = SCENARIOS.map(({ key }) => key);
  for (const { scenario } of GATEWAY_RESULTS) expect(keys).toContain(scenario);
});

test("docs/envoy.md has a row for each scenario", () => {
  const docsPage = readFileSync(PAGE, "utf8");
  for (const { title } of SCENARIOS) expect(docsPage).toContain(`| ${title} |`);
});
