import { expect, test } from "vitest";
import { caseName, envoyCases, VERSIONS } from "./envoy-cases.ts";
import { SCENARIOS } from "./envoy-scenarios.ts";

test("every scenario runs with every Envoy version, and some also with the manager on Node", () => {
  const cases = envoyCases(true);
  const nativeCases = cases.filter(({ manager }) => manager === "native");
  expect(nativeCases).toHaveLength(SCENARIOS.length * VERSIONS.length);
  expect(cases.length).toBeGreaterThan(nativeCases.length);
});

test("if the native manager was not built, every scenario runs once with the manager on Node", () => {
  const names = envoyCases(false).map(caseName);
  expect(names).toHaveLength(SCENARIOS.length * VERSIONS.length);
  expect(new Set(names).size).toBe(names.length);
});

test("the names of the Envoy cases are unique and valid Pod names", () => {
  const names = envoyCases(true).map(caseName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
});
