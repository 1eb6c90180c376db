/** Writes the SBOM of each image from the lock files, the Dockerfile, the linked parts and the bundler's inputs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VERSION } from "../../src/contract/version.ts";
import { type BundledProgram, sourcesOf } from "../bundle.ts";
import { type Parts, sbomOf } from "./cyclonedx.ts";
import { baseImageComponent, type DockerfileFacts, nodeComponent, readDockerfile } from "./dockerfile-facts.ts";
import { lockedPackageParts, readLockFile } from "./locked-packages.ts";
import { nativeParts } from "./native-parts.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const SBOM_NAMES = ["manager", "manager-node", "webhook"] as const;
export type SbomName = (typeof SBOM_NAMES)[number];

/** Debian's architecture by Node's `process.arch`. */
const DEBIAN_ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** @param processor the image's `process.arch`. @throws Error when a version or hash is missing */
export async function sbomOfImage(image: SbomName, processor: string = process.arch): Promise<string> {
  const facts = readDockerfile(`${ROOT}/Dockerfile`);
  const partsByImage: Readonly<Record<SbomName, () => Promise<readonly Parts[]>>> = {
    manager: async () => [nativeParts(facts, DEBIAN_ARCHITECTURES[processor] ?? processor)],
    // koffi is loaded at run time, so it is not among the bundler's inputs.
    "manager-node": () =>
      nodeImageParts(facts, "manager", ["node_modules/koffi", `node_modules/@koromix/koffi-linux-${processor}`]),
    webhook: () => nodeImageParts(facts, "lastcall"),
  };
  return sbomOf({ name: `lastcall-${image}`, version: VERSION, parts: await partsByImage[image]() });
}

/** @param folder created if missing. @returns the paths of the written files */
export async function writeSboms(folder: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  return Promise.all(
    SBOM_NAMES.map(async (name) => {
      const file = `${folder}/${name}.cdx.json`;
      writeFileSync(file, await sbomOfImage(name));
      return file;
    }),
  );
}

async function nodeImageParts(
  facts: DockerfileFacts,
  program: BundledProgram,
  unbundledFolders: readonly string[] = [],
) {
  const baseImage = baseImageComponent(facts, "required");
  const node = nodeComponent(facts);
  const packageParts = lockedPackageParts(readLockFile(`${ROOT}/package-lock.json`), [
    ...(await packageFoldersIn(program)),
    ...unbundledFolders,
  ]);
  const uses = new Map([[baseImage["bom-ref"], [node["bom-ref"]]]]);
  return [packageParts, { components: [baseImage, node], uses }];
}

/** Lists the folders of the packages in a bundle. */
async function packageFoldersIn(program: BundledProgram): Promise<readonly string[]> {
  const sources = await sourcesOf(program);
  const folders = sources.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(folders)].sort();
}
