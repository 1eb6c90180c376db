/** Imports a real nginx on the suite's own nodes, under the image name of the guide for ingress-nginx. */
import { join } from "node:path";
import { findProgram } from "../../test/programs/install/program-of.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { cacheFolder } from "../host/cache-folder.ts";
import { makeBundleLayer } from "../images/build-images.ts";
import { NODE_PROGRAM } from "../images/image-table.ts";
import { importImages } from "../images/import-images.ts";
import { makeNodeLayer } from "../images/node-layer.ts";
import { writeProgramArchive } from "../images/program-archive.ts";
import type { Suite } from "./suite.ts";

const ROOT = join(import.meta.dirname, "../..");

export const IMAGE = "registry.k8s.io/ingress-nginx/controller:v1.15.1";

/** Installs nginx from Debian unless it is installed. @throws with the reason if it is not available */
export async function importIngressNginx(suite: Suite): Promise<void> {
  const nginx = await findProgram("nginx");
  if (nginx.kind === "missing") throw new Error(nginx.reason);
  const image = {
    name: IMAGE,
    program: nginx.command[0] ?? "",
    user: "0:0",
    baseLayers: [await makeNodeLayer(ROOT), await makeBundleLayer(join(ROOT, "e2e/programs/ingress-controller.ts"))],
    entrypoint: [NODE_PROGRAM, "/app/ingress-controller.mjs"],
  };
  const file = await writeProgramArchive([image], cacheFolder(process.env), Date.now());
  for (const node of suite.nodes) await importImages([file], stateFolder().socketOf(node));
}
