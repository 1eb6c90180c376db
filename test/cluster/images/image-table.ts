/** What each image carries, as data: the Dockerfile's targets are to hold the same. */
import type { Content } from "./file-tree.ts";

export type ImageRow = {
  /** `node` puts Node and the libraries it is linked to below the rest. */
  readonly base: "scratch" | "node";
  /** Sources relative to the repository's root. */
  readonly contents: readonly Content[];
  /** Packages to carry in `/app/node_modules`. */
  readonly packages: "none" | "production" | readonly string[];
  /** Programs of the tests, each bundled into one file in `/app`. */
  readonly bundles: readonly string[];
  readonly entrypoint: readonly string[];
};

/** Nobody of any image: the user of every container here. */
export const USER = "65532:65532";
export const NODE = "/usr/local/bin/node";

const app = (path: string): Content => ({ from: path, to: `/app/${path}` });

export const IMAGES = {
  "lastcall-manager": {
    base: "scratch",
    contents: [{ from: "build/native/lastcall", to: "/lastcall" }],
    packages: "none",
    bundles: [],
    entrypoint: ["/lastcall"],
  },
  "lastcall-manager-node": {
    base: "node",
    contents: [
      ...["package.json", "src/contract", "src/manager"].map(app),
      { from: "test/cluster/images/manager-node-launcher", to: "/lastcall" },
    ],
    packages: ["koffi", `@koromix/koffi-linux-${process.arch}`],
    bundles: [],
    entrypoint: ["/lastcall"],
  },
  "lastcall-webhook": {
    base: "node",
    contents: ["package.json", "src"].map(app),
    packages: "production",
    bundles: [],
    entrypoint: [NODE, "/app/src/lastcall.ts"],
  },
  "lastcall-test-app": {
    base: "node",
    contents: [],
    packages: "none",
    bundles: ["src/demo/sample-app.ts", "test/cluster/programs/load-client.ts", "test/cluster/programs/candid-app.ts"],
    entrypoint: [NODE],
  },
} as const satisfies Readonly<Record<string, ImageRow>>;

export type ImageName = keyof typeof IMAGES;
export const IMAGE_NAMES = Object.keys(IMAGES).filter((name): name is ImageName => Object.hasOwn(IMAGES, name));
