/** Imports the images of a work tree on both nodes. */
import { NODES } from "../cluster/addresses.ts";
import type { StateFolder } from "../cluster/state-folder.ts";
import { type BuiltImages, buildImages } from "./build-images.ts";
import { importImages } from "./import-images.ts";

/** Returns the image names for Pods; images of an earlier call are replaced. */
export async function buildAndImportImages(
  root: string,
  state: StateFolder,
  cache: string,
): Promise<BuiltImages["names"]> {
  const { file, names } = await buildImages(root, cache);
  await Promise.all(NODES.map(({ name }) => importImages([file], state.socketOf(name))));
  return names;
}
