import { expect, test } from "vitest";
import { envoyCases, nameOf, VERSIONS } from "./cases.ts";
import { SCENES } from "./scenes.ts";

test("every scene is played before every Envoy, and some with the other build as well", () => {
  const cases = envoyCases(true);
  const native = cases.filter(({ manager }) => manager === "native");
  expect(native).toHaveLength(SCENES.length * VERSIONS.length);
  expect(cases.length).toBeGreaterThan(native.length);
});

test("where there is no native manager the one on Node plays every scene, and none twice", () => {
  const names = envoyCases(false).map(nameOf);
  expect(names).toHaveLength(SCENES.length * VERSIONS.length);
  expect(new Set(names).size).toBe(names.length);
});

test("the names of cases are names of Pods", () => {
  const names = envoyCases(true).map(nameOf);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
});
