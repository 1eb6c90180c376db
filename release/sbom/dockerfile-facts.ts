/** Reads the pinned versions of the Dockerfile: the base image and the build stage's Debian packages. */
import { readFileSync } from "node:fs";
import { type Component, licensesOf } from "./cyclonedx.ts";

export type DockerfileFacts = {
  readonly baseImage: { readonly repository: string; readonly tag: string; readonly sha256: string };
  /** Versions of Debian packages, by name. */
  readonly debianVersions: ReadonlyMap<string, string>;
};

const PACKAGE_PIN = /^\s+([a-z][a-z0-9.+-]*)=(\S+)/gm;
const BASE_IMAGE_PIN = /^ARG NODE_IMAGE=(\S+):([^:@\s]+)@sha256:([0-9a-f]{64})$/m;

/** @throws Error when a pin is missing */
export function readDockerfile(file: string): DockerfileFacts {
  const text = readFileSync(file, "utf8");
  const [, repository, tag, sha256] = BASE_IMAGE_PIN.exec(text) ?? [];
  if (repository === undefined || tag === undefined || sha256 === undefined)
    throw new Error(`${file} has no ARG NODE_IMAGE with a tag and a digest`);
  const debianVersions = new Map([...text.matchAll(PACKAGE_PIN)].map(([, name = "", version = ""]) => [name, version]));
  return { baseImage: { repository, tag, sha256 }, debianVersions };
}

/** The base image is one component: its publisher's SBOM lists its Debian packages. */
export function baseImageComponent({ baseImage }: DockerfileFacts, scope: Component["scope"]): Component {
  const { repository, tag, sha256 } = baseImage;
  const name = repository.slice(repository.lastIndexOf("/") + 1);
  const purl = `pkg:oci/${name}@sha256%3A${sha256}?repository_url=${encodeURIComponent(repository)}&tag=${tag}`;
  const hashes = [{ alg: "SHA-256", content: sha256 }] as const;
  return { type: "container", "bom-ref": purl, name, version: tag, scope, hashes, purl };
}

/** Node is a component in addition to the base image that contains it, because scanners match Node by name. */
export function nodeComponent({ baseImage }: DockerfileFacts): Component {
  const version = baseImage.tag.split("-", 1)[0] ?? "";
  const purl = `pkg:generic/node@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  const licenses = licensesOf("MIT");
  return { type: "application", "bom-ref": purl, name: "node", version, scope: "required", licenses, cpe, purl };
}

type DebianPackage = { readonly name: string; readonly license: string; readonly scope: Component["scope"] };

/** @throws Error when the Dockerfile does not pin the package's version */
export function debianComponent(
  { debianVersions }: DockerfileFacts,
  architecture: string,
  debianPackage: DebianPackage,
): Component {
  const { name, license, scope } = debianPackage;
  const version = debianVersions.get(name);
  if (version === undefined) throw new Error(`the Dockerfile does not pin a version of ${name}`);
  // Some URL parsers decode + as a space; a version's epoch ends with a colon.
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=bookworm`;
  return { type: "library", "bom-ref": purl, name, version, scope, licenses: licensesOf(license), purl };
}
