/** Writes images as one reproducible archive that every container runtime imports, without a container engine. */
import { createHash } from "node:crypto";
import { type TarEntry, tarParts } from "./tar.ts";

/** Images with a common layer share its bytes in the archive and on the nodes. */
export type Layer = { readonly digest: string; readonly tar: readonly Uint8Array[] };

export type ImageSettings = {
  /** The name with a tag; not `latest`, which kubelets always pull. */
  readonly name: string;
  /** User id and, after a colon, group id. */
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly env?: readonly string[];
};

/** The lowest layer is first. */
export type Image = ImageSettings & { readonly layers: readonly Layer[] };

export function makeLayer(entries: readonly TarEntry[]): Layer {
  const tar = tarParts(entries);
  return { digest: sha256(tar), tar };
}

/** Returns a layer with an empty folder /tmp, in which every user can write. */
export function makeTmpLayer(): Layer {
  return makeLayer([{ path: "tmp", mode: 0o1777, content: undefined }]);
}

/** Returns the parts of the archive in order. */
export function dockerArchive(images: readonly Image[]): readonly Uint8Array[] {
  const layers = new Map(images.flatMap((image) => image.layers.map((layer) => [layer.digest, layer])));
  const configs = images.map((image) => ({ image, json: Buffer.from(JSON.stringify(configOf(image))) }));
  const manifest = configs.map(({ image, json }) => ({
    Config: `${sha256([json])}.json`,
    RepoTags: [image.name],
    Layers: image.layers.map(({ digest }) => `${digest}.tar`),
  }));
  const file = (path: string, content: Uint8Array): TarEntry => ({ path, mode: 0o644, content });
  return tarParts([
    ...[...layers.values()].map(({ digest, tar }) => file(`${digest}.tar`, Buffer.concat(tar))),
    ...configs.map(({ json }) => file(`${sha256([json])}.json`, json)),
    file("manifest.json", Buffer.from(JSON.stringify(manifest))),
  ]);
}

function configOf(image: Image): unknown {
  return {
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: "linux",
    config: {
      Entrypoint: image.entrypoint,
      User: image.user,
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin", ...(image.env ?? [])],
      WorkingDir: "/",
    },
    rootfs: { type: "layers", diff_ids: image.layers.map(({ digest }) => `sha256:${digest}`) },
    history: image.layers.map(() => ({ created: "2026-01-01T00:00:00Z" })),
  };
}

/** Maps Node's names of architectures to the names in image registries. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

function sha256(parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
