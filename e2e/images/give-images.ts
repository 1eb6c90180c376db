/** The images of a work tree for both nodes. */
import { NODES } from "../life/addresses.ts";
import type { StateFolder } from "../life/state-folder.ts";
import { type BuiltImages, buildImages } from "./build-images.ts";
import { importImages } from "./import-images.ts";

/** The names under which Pods find them; those of an earlier call are replaced. */
export async function giveImages(root: string, state: StateFolder, cache: string): Promise<BuiltImages["names"]> {
  const { file, names } = await buildImages(root, cache);
  await Promise.all(NODES.map(({ name }) => importImages([file], state.socketOf(name))));
  return names;
}
