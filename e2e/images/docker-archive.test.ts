import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { dockerArchive, type Image, makeLayer } from "./docker-archive.ts";

const base = makeLayer([{ path: "node", mode: 0o755, content: Buffer.from("node") }]);
const own = makeLayer([{ path: "app", mode: 0o644, content: Buffer.from("app") }]);
const image: Image = {
  name: "localhost/app:1",
  user: "65532:65532",
  entrypoint: ["/node", "/app"],
  layers: [base, own],
};
const other: Image = { name: "localhost/base:1", user: "65532:65532", entrypoint: ["/node"], layers: [base] };

function read(archive: Buffer, path: string): Buffer {
  return execFileSync("tar", ["-xOf", "-", path], { input: archive });
}

describe("an archive of images", () => {
  test("is identical for the same images", () => {
    expect(Buffer.concat(dockerArchive([image, other]))).toEqual(Buffer.concat(dockerArchive([image, other])));
  });

  test("has each layer under the digest in the image's config", () => {
    const archive = Buffer.concat(dockerArchive([image]));
    const [{ Config, Layers, RepoTags }] = JSON.parse(read(archive, "manifest.json").toString());
    expect(RepoTags).toEqual(["localhost/app:1"]);
    const settings = JSON.parse(read(archive, Config).toString());
    const digests = Layers.map((layer: string) => createHash("sha256").update(read(archive, layer)).digest("hex"));
    expect(settings.rootfs.diff_ids).toEqual(digests.map((digest: string) => `sha256:${digest}`));
    expect(settings.config).toMatchObject({ User: "65532:65532", Entrypoint: ["/node", "/app"] });
  });

  test("contains a layer once if several images share the layer", () => {
    const names = execFileSync("tar", ["-tf", "-"], { input: Buffer.concat(dockerArchive([image, other])) });
    expect(names.toString().match(new RegExp(`${base.digest}.tar`, "g"))).toHaveLength(1);
  });
});
