import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSIONS } from "./cases.ts";
import { missingEnvoy, withEnvoy } from "./envoy-page.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { GATEWAY_FIGURES } from "./gateway-figures.ts";
import { SCENES } from "./scenes.ts";

const PAGE = new URL("../../../docs/envoy.md", import.meta.url);

const run = (scene: string, version: string, over: Partial<EnvoyResult> = {}): EnvoyResult => ({
  kind: "envoy",
  system: `${scene}, Envoy ${version}, native`,
  scene,
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
  ...over,
});

const all = SCENES.flatMap(({ key }) => VERSIONS.map((version) => run(key, version)));
const page = "<!-- generated: against Envoy Gateway -->\nstale\n<!-- end of against Envoy Gateway -->\n";
const blank = `${page}<!-- generated: protocols before Envoy -->\n<!-- end of protocols before Envoy -->\n`;

test("a row tells what both managers made of the same clients", () => {
  const written = withEnvoy(blank, all);
  expect(written).toContain(
    "| one idle HTTP/2 connection | 61.0 s | 61.0 s | failed | 0 | 7.1 s | 2.1 s | 200 | 0 of 100 |",
  );
  expect(written).not.toContain("stale");
});

test("what failed is told, and what was given back as not begun", () => {
  const lost = all.map((one) =>
    one.scene === "http2" && one.version === "1.36" ? { ...one, failures: ["reset"], refused: 2 } : one,
  );
  expect(withEnvoy(blank, lost)).toContain("| 1 of 101 (2 given back) |");
});

test("a session that stays was cut, no matter who drained", () => {
  const cut = all.map((one) => (one.scene === "tcp-stays" ? { ...one, cut: 1 } : one));
  expect(withEnvoy(blank, cut)).toContain(
    "| a TCP session that stays | 61.0 s | – | failed | cut | 7.1 s | – | 200 | cut |",
  );
});

test("the manager on Node is no row", () => {
  const node = run("none", "1.40", { manager: "node", managerPeakKib: 100_000, releasedSeconds: 99 });
  expect(withEnvoy(blank, [...all, node])).toBe(withEnvoy(blank, all));
});

test("what was not measured is named", () => {
  expect(missingEnvoy(all)).toEqual([]);
  expect(missingEnvoy(all.slice(1))).toEqual([`Envoy ${VERSIONS[0]}, ${SCENES[0]?.says}`]);
  expect(() => withEnvoy(blank, all.slice(1))).toThrow("no result of scene none before Envoy 1.40");
});

test("every scene of the other manager is one of ours", () => {
  const keys = SCENES.map(({ key }) => key);
  for (const { scene } of GATEWAY_FIGURES) expect(keys).toContain(scene);
});

test("the page of the docs has a row for each scene", () => {
  const docs = readFileSync(PAGE, "utf8");
  for (const { says } of SCENES) expect(docs).toContain(`| ${says} |`);
});
