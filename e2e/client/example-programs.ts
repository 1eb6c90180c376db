/** Maps the images of the examples to substitute programs on the suite's own nodes, or to the reason why no test runs them. */
import { stateFolder } from "../cluster/state-folder.ts";
import type { ImageName } from "../images/image-table.ts";
import { tagImage } from "../images/import-images.ts";
import { imageOf, type Suite } from "./suite.ts";

/** Substitutes for the images of the reader's own programs in the examples. */
export const SUBSTITUTE_IMAGES: Readonly<Record<string, ImageName>> = {
  "registry.example/shop/web:1.4": "lastcall-example-app",
  "registry.example/shop/report:1.0": "lastcall-example-work",
  "registry.example/shop/import:1.0": "lastcall-example-work",
  "registry.example/orders/consumer:2.0": "lastcall-example-consumer",
};

/** Reasons why no test runs an image, by the prefix of the image's name. */
const REASONS_BY_IMAGE_PREFIX: Readonly<Record<string, string>> = {
  "docker.io/library/rabbitmq:": "npm run test:programs tests the broker without a cluster",
  "registry.example/orders/renderer:": "its jobs come from a broker; npm run test:programs runs it with a broker",
  "ghcr.io/projectcontour/contour:":
    "it needs Contour's CRDs and certificates; npm run e2e -- --others -- contour runs it",
  "docker.io/envoyproxy/envoy:": "its configuration comes from Contour; npm run e2e -- --others -- contour runs it",
  "docker.io/library/traefik:": "it is built from source first; npm run e2e -- --others -- traefik runs it",
  "registry.k8s.io/ingress-nginx/controller:":
    "npm run e2e -- --others -- ingress-nginx runs it with an nginx of Debian",
};

/** Tags the suite's images with the examples' names on the nodes, so that manifests run unchanged. */
export async function tagExampleImages(suite: Suite): Promise<void> {
  for (const node of suite.nodes) {
    const socket = stateFolder().socketOf(node);
    for (const [name, substitute] of Object.entries(SUBSTITUTE_IMAGES))
      await tagImage(socket, imageOf(suite, substitute), name);
  }
}

/** Returns the reasons why a Pod of these images cannot run, one per image; empty if the Pod can run. @throws for an unknown image */
export function reasonsPodCannotRun(images: readonly string[]): readonly string[] {
  return [...new Set(images)].flatMap((image) => {
    if (Object.hasOwn(SUBSTITUTE_IMAGES, image)) return [];
    const [, reason] = Object.entries(REASONS_BY_IMAGE_PREFIX).find(([start]) => image.startsWith(start)) ?? [];
    if (reason === undefined)
      throw new Error(
        `Image ${image} of an example has neither a substitute program nor a reason in e2e/client/example-programs.ts. Add one.`,
      );
    return [`${image}: ${reason}`];
  });
}
