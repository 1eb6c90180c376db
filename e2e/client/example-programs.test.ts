import { expect, test } from "vitest";
import { GUIDE_NAMES, readGuide } from "../../test/guides/manifests.ts";
import { reasonsPodCannotRun, SUBSTITUTE_IMAGES } from "./example-programs.ts";

/** The images of the guides' Pods, including Pods in objects of other controllers. */
const EXAMPLE_IMAGES = GUIDE_NAMES.flatMap((name) =>
  [...readGuide(name).manifest.matchAll(/^\s+image: (\S+)$/gm)].map((match) => match[1] ?? ""),
);
/** Matches the images of the Argo guide, which `others/argo.e2e.ts` runs. */
const ARGO_IMAGE = /^registry\.example\/crawl\//;

test("every image of the examples has a substitute program or a reason why no test runs it", () => {
  const images = EXAMPLE_IMAGES.filter((image) => !ARGO_IMAGE.test(image));
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) {
    const reasons = reasonsPodCannotRun([image, image]);
    expect([image, reasons.length]).toEqual([image, Object.hasOwn(SUBSTITUTE_IMAGES, image) ? 0 : 1]);
  }
});

test("every substitute program replaces an image of an example", () => {
  for (const image of Object.keys(SUBSTITUTE_IMAGES)) expect(EXAMPLE_IMAGES).toContain(image);
});

test("an image without a substitute program is reported by its name", () => {
  expect(() => reasonsPodCannotRun(["registry.example/new:1"])).toThrow("registry.example/new:1");
});
