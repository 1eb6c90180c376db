import { expect, test } from "vitest";
import { GUIDE_NAMES, guideNamed } from "../../test/guides/manifests.ts";
import { STAND_INS, whyNotRun } from "./example-programs.ts";

/** Of Pods; those of kinds that only a controller knows among them. */
const NAMED = GUIDE_NAMES.flatMap((name) =>
  [...guideNamed(name).manifest.matchAll(/^\s+image: (\S+)$/gm)].map((match) => match[1] ?? ""),
);
/** Argo's own suite brings these. */
const OF_WORKFLOWS = /^registry\.example\/crawl\//;

test("every image of the examples has a stand-in or a reason why nothing runs it", () => {
  const images = NAMED.filter((image) => !OF_WORKFLOWS.test(image));
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) {
    const reasons = whyNotRun([image, image]);
    expect([image, reasons.length]).toEqual([image, Object.hasOwn(STAND_INS, image) ? 0 : 1]);
  }
});

test("every stand-in is for an image that an example names", () => {
  for (const image of Object.keys(STAND_INS)) expect(NAMED).toContain(image);
});

test("an image no one thought of is told by its name", () => {
  expect(() => whyNotRun(["registry.example/new:1"])).toThrow("registry.example/new:1");
});
