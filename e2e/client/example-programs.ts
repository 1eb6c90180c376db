/** The programs that the manifests of the examples name, on the suite's own nodes: what stands for each, or why nothing does. */

import type { ImageName } from "../images/image-table.ts";
import { nameImage } from "../images/import-images.ts";
import { stateFolder } from "../life/state-folder.ts";
import { imageOf, type Suite } from "./suite.ts";

/** Images of the examples that are the reader's own. */
export const STAND_INS: Readonly<Record<string, ImageName>> = {
  "registry.example/shop/web:1.4": "lastcall-example-app",
  "registry.example/shop/report:1.0": "lastcall-example-work",
  "registry.example/shop/import:1.0": "lastcall-example-work",
  "registry.example/orders/consumer:2.0": "lastcall-example-consumer",
};

/** By the beginning of an image's name. */
const CANNOT_RUN: Readonly<Record<string, string>> = {
  "docker.io/library/rabbitmq:": "the broker is tried outside a cluster, by test:programs",
  "registry.example/orders/renderer:": "its jobs come from a broker; it is tried with one by test:programs",
  "ghcr.io/projectcontour/contour:": "Contour is a control plane with definitions and certificates of its own",
  "docker.io/envoyproxy/envoy:": "its configuration comes from a control plane; Envoy itself is tried by test:programs",
  "registry.k8s.io/ingress-nginx/controller:": "its nginx with all its modules is only published as an image",
};

/** Gives the nodes' runtimes the examples' names for the suite's images, so that manifests run as they are. */
export async function nameExamplePrograms(suite: Suite): Promise<void> {
  for (const node of suite.nodes) {
    const socket = stateFolder().socketOf(node);
    for (const [name, standIn] of Object.entries(STAND_INS)) await nameImage(socket, imageOf(suite, standIn), name);
  }
}

/** Why a Pod of these images cannot run here, one sentence for each image; none when it can. @throws for an unknown one */
export function whyNotRun(images: readonly string[]): readonly string[] {
  return [...new Set(images)].flatMap((image) => {
    if (Object.hasOwn(STAND_INS, image)) return [];
    const [, reason] = Object.entries(CANNOT_RUN).find(([start]) => image.startsWith(start)) ?? [];
    if (reason === undefined) throw new Error(`Neither a stand-in nor a reason is known for the image ${image}.`);
    return [`${image}: ${reason}`];
  });
}
