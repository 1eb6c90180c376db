/** The SBOM of each image, from the lock files, the Dockerfile, the table of linked parts, and what the bundler reads. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VERSION } from "../../src/contract/version.ts";
import { type BundledProgram, sourcesOf } from "../bundle.ts";
import { type Parts, sbomOf } from "./cyclonedx.ts";
import { baseImage, type DockerfileFacts, nodeOf, readDockerfile } from "./dockerfile-facts.ts";
import { lockedPackages, readLock } from "./locked-packages.ts";
import { nativeParts } from "./native-parts.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Of the Dockerfile's targets. */
export const SBOM_NAMES = ["manager", "manager-node", "webhook"] as const;
export type SbomName = (typeof SBOM_NAMES)[number];

/** Node's word for a processor, and Debian's. */
const DEBIAN_ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** @param processor of the image. @throws Error where a fact is missing */
export async function sbomOfImage(image: SbomName, processor: string = process.arch): Promise<string> {
  const facts = readDockerfile(`${ROOT}/Dockerfile`);
  const parts: Readonly<Record<SbomName, () => Promise<readonly Parts[]>>> = {
    manager: async () => [nativeParts(facts, DEBIAN_ARCHITECTURES[processor] ?? processor)],
    // Loaded at run time, so the bundler does not see them.
    "manager-node": () =>
      onNode(facts, "manager", ["node_modules/koffi", `node_modules/@koromix/koffi-linux-${processor}`]),
    webhook: () => onNode(facts, "lastcall"),
  };
  return sbomOf({ name: `lastcall-${image}`, version: VERSION, parts: await parts[image]() });
}

/** @returns the files. @param folder is made where it is missing */
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

async function onNode(facts: DockerfileFacts, program: BundledProgram, beside: readonly string[] = []) {
  const base = baseImage(facts, "required");
  const node = nodeOf(facts);
  const packages = lockedPackages(readLock(`${ROOT}/package-lock.json`), [...(await packagesIn(program)), ...beside]);
  const uses = new Map([[base["bom-ref"], [node["bom-ref"]]]]);
  return [packages, { components: [base, node], uses }];
}

/** The folders of the packages that a bundle has code of. */
async function packagesIn(program: BundledProgram): Promise<readonly string[]> {
  const sources = await sourcesOf(program);
  const folders = sources.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(folders)].sort();
}
