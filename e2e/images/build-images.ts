/** Builds all images of the project and its tests from this work tree, as one archive. */
import { basename, join } from "node:path";
import { build as bundle } from "esbuild";
import { buildManager } from "../../native/build/build.ts";
import { buildPreload } from "../../native/build/preload.ts";
import { bundleInto } from "../../release/bundle.ts";
import { writeSboms } from "../../release/sbom/images.ts";
import { writeArchive } from "./archive-file.ts";
import { type Image, type Layer, makeLayer } from "./docker-archive.ts";
import { type Content, treeEntries } from "./file-tree.ts";
import { IMAGE_NAMES, IMAGE_USER, IMAGES, type ImageName, type ImageRow } from "./image-table.ts";
import { makeNodeLayer } from "./node-layer.ts";
import type { TarEntry } from "./tar.ts";

export type BuiltImages = {
  readonly file: string;
  /** The full name of each image, with its tag. */
  readonly names: Readonly<Partial<Record<ImageName, string>>>;
};

/** The tag is fixed, so that an import replaces earlier images. */
const IMAGE_TAG = "test";

/** @param registry prefix of the names, `localhost` for imported images. */
export async function buildImages(root: string, cache: string, registry = "localhost"): Promise<BuiltImages> {
  await bundleInto(join(root, "build/release"));
  await buildManager("x64");
  await buildPreload("x64", join(root, "build/native/lastcall-preload.so"));
  await writeSboms(join(root, "build/sbom"));
  const names = IMAGE_NAMES;
  const baseLayer = await makeNodeLayer(root);
  const images = await Promise.all(names.map((name) => makeImage(name, { root, registry, baseLayer })));
  return {
    file: writeArchive(images, cache, Date.now()),
    names: Object.fromEntries(names.map((name, at) => [name, images[at]?.name])),
  };
}

type ImageContext = { readonly root: string; readonly registry: string; readonly baseLayer: Layer };

async function makeImage(name: ImageName, { root, registry, baseLayer }: ImageContext): Promise<Image> {
  const row: ImageRow = IMAGES[name];
  const contents: readonly Content[] = row.contents.map(({ from, to }) => ({ from: join(root, from), to }));
  const bundles = await Promise.all(row.bundles.map((source) => makeBundleEntry(join(root, source))));
  const ownLayer = makeLayer([...treeEntries(contents), ...folderOf(bundles), ...bundles]);
  return {
    name: `${registry}/${name}:${IMAGE_TAG}`,
    user: IMAGE_USER,
    entrypoint: row.entrypoint,
    env: ["NODE_ENV=production"],
    layers: row.base === "node" ? [baseLayer, ownLayer] : [ownLayer],
  };
}

/** Bundles one program of the tests into `/app`, as its own layer. @param source the program's file */
export async function makeBundleLayer(source: string): Promise<Layer> {
  const entry = await makeBundleEntry(source);
  return makeLayer([...folderOf([entry]), entry]);
}

async function makeBundleEntry(source: string): Promise<TarEntry> {
  const { outputFiles } = await bundle({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    logLevel: "error",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`esbuild wrote no output for ${source}.`);
  return { path: `app/${basename(source, ".ts")}.mjs`, mode: 0o644, content: file.contents };
}

function folderOf(bundles: readonly TarEntry[]): readonly TarEntry[] {
  return bundles.length === 0 ? [] : [{ path: "app", mode: 0o755, content: undefined }];
}
