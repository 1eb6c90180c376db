/** Packs Node with its linked libraries as the base layer of images. */
import { join } from "node:path";
import { run } from "../host/run.ts";
import { type Layer, makeLayer } from "./docker-archive.ts";
import { treeEntries } from "./file-tree.ts";
import { NODE_PROGRAM } from "./image-table.ts";

export async function makeNodeLayer(root: string): Promise<Layer> {
  const program = join(root, `node_modules/node-linux-${process.arch}/bin/node`);
  const lddOutput = await run("ldd", [program]);
  // Lines such as `libm.so.6 => /lib/libm.so.6 (0x…)`, and the loader's own path without an arrow.
  const libraries = [...lddOutput.matchAll(/(\/\S+) \(0x/g)].flatMap((match) => match[1] ?? []);
  const contents = [{ from: program, to: NODE_PROGRAM }, ...libraries.map((path) => ({ from: path, to: path }))];
  return makeLayer(treeEntries(contents));
}
