/** Defines the contents of each image, which equal those of the Dockerfile's targets. */
import type { Content } from "./file-tree.ts";

export type ImageRow = {
  /** `node` adds Node and the libraries that it is linked with as the base layer. */
  readonly base: "scratch" | "node";
  /** Sources, relative to the repository's root. */
  readonly contents: readonly Content[];
  /** Programs of the tests, each bundled into one file in `/app`. */
  readonly bundles: readonly string[];
  readonly entrypoint: readonly string[];
};

/** The unprivileged user of every image. */
export const IMAGE_USER = "65532:65532";
export const NODE_PROGRAM = "/usr/local/bin/node";

export const IMAGES = {
  "lastcall-manager": {
    base: "scratch",
    contents: [
      { from: "build/native/lastcall", to: "/lastcall" },
      { from: "build/native/lastcall-preload.so", to: "/lastcall-preload.so" },
      { from: "build/native/NOTICES.txt", to: "/NOTICES.txt" },
      { from: "build/sbom/manager.cdx.json", to: "/sbom.cdx.json" },
    ],
    bundles: [],
    entrypoint: ["/lastcall"],
  },
  "lastcall-manager-node": {
    base: "node",
    contents: [
      { from: "build/release/manager/lastcall-manager.mjs", to: "/app/lastcall-manager.mjs" },
      { from: "release/manager-node-launcher", to: "/lastcall" },
      { from: "build/native/lastcall-preload.so", to: "/lastcall-preload.so" },
      { from: "node_modules/koffi", to: "/app/node_modules/koffi" },
      { from: "node_modules/@koromix", to: "/app/node_modules/@koromix" },
      { from: "build/sbom/manager-node.cdx.json", to: "/sbom.cdx.json" },
    ],
    bundles: [],
    entrypoint: ["/lastcall"],
  },
  "lastcall-webhook": {
    base: "node",
    contents: [
      { from: "build/release/lastcall", to: "/app" },
      { from: "build/sbom/webhook.cdx.json", to: "/sbom.cdx.json" },
    ],
    bundles: [],
    entrypoint: [
      NODE_PROGRAM,
      "--max-semi-space-size=8",
      "--heap-growing-percent=50",
      "--v8-pool-size=1",
      "--no-maglev-destroy-on-background",
      "/app/lastcall.mjs",
    ],
  },
  "lastcall-test-app": {
    base: "node",
    contents: [],
    bundles: [
      "src/demo/sample-app.ts",
      ...["load-client", "lifecycle-app", "attacker", "gateway-load"].map((name) => `e2e/programs/${name}.ts`),
      "test/programs/rollouts/rollout-app.ts",
      "test/programs/envoy/upstream.ts",
    ],
    entrypoint: [NODE_PROGRAM],
  },
  // The manifests of the examples have no arguments, so each program needs an image with its own entrypoint.
  "lastcall-example-app": {
    base: "node",
    contents: [],
    bundles: ["e2e/programs/lifecycle-app.ts"],
    entrypoint: [NODE_PROGRAM, "/app/lifecycle-app.mjs"],
  },
  "lastcall-example-work": {
    base: "node",
    contents: [],
    bundles: ["e2e/programs/example-work.ts"],
    entrypoint: [NODE_PROGRAM, "/app/example-work.mjs"],
  },
  "lastcall-example-consumer": {
    base: "node",
    contents: [],
    bundles: ["e2e/programs/example-consumer.ts"],
    entrypoint: [NODE_PROGRAM, "/app/example-consumer.mjs"],
  },
} as const satisfies Readonly<Record<string, ImageRow>>;

/** Flags of Node and V8, as in the webhook's image. */
export const WEBHOOK_FLAGS = IMAGES["lastcall-webhook"].entrypoint.filter((word) => word.startsWith("--"));

export type ImageName = keyof typeof IMAGES;
export const IMAGE_NAMES = Object.keys(IMAGES).filter((name): name is ImageName => Object.hasOwn(IMAGES, name));
