/** What the Dockerfile pins: the base image, and Debian's packages of the build stage. */
import { readFileSync } from "node:fs";
import { type Component, licensesOf } from "./cyclonedx.ts";

export type DockerfileFacts = {
  readonly base: { readonly repository: string; readonly tag: string; readonly sha256: string };
  /** Version by package. */
  readonly debian: ReadonlyMap<string, string>;
};

const PACKAGE = /^\s+([a-z][a-z0-9.+-]*)=(\S+)/gm;
const BASE = /^ARG NODE_IMAGE=(\S+):([^:@\s]+)@sha256:([0-9a-f]{64})$/m;

/** @throws Error where a pin is missing */
export function readDockerfile(file: string): DockerfileFacts {
  const text = readFileSync(file, "utf8");
  const [, repository, tag, sha256] = BASE.exec(text) ?? [];
  if (repository === undefined || tag === undefined || sha256 === undefined)
    throw new Error(`${file} has no ARG NODE_IMAGE with a tag and a digest`);
  const debian = new Map([...text.matchAll(PACKAGE)].map(([, name = "", version = ""]) => [name, version]));
  return { base: { repository, tag, sha256 }, debian };
}

/** The base image as one component; its Debian packages stand in the SBOM that its maker attaches to it. */
export function baseImage({ base }: DockerfileFacts, scope: Component["scope"]): Component {
  const { repository, tag, sha256 } = base;
  const name = repository.slice(repository.lastIndexOf("/") + 1);
  const purl = `pkg:oci/${name}@sha256%3A${sha256}?repository_url=${encodeURIComponent(repository)}&tag=${tag}`;
  const hashes = [{ alg: "SHA-256", content: sha256 }] as const;
  return { type: "container", "bom-ref": purl, name, version: tag, scope, hashes, purl };
}

/** The Node that the base image holds, by its own name: scanners look for that. */
export function nodeOf({ base }: DockerfileFacts): Component {
  const version = base.tag.split("-", 1)[0] ?? "";
  const purl = `pkg:generic/node@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  const licenses = licensesOf("MIT");
  return { type: "application", "bom-ref": purl, name: "node", version, scope: "required", licenses, cpe, purl };
}

type Debian = { readonly name: string; readonly license: string; readonly scope: Component["scope"] };

/** @throws Error where the Dockerfile installs another version every day */
export function debianPackage({ debian }: DockerfileFacts, architecture: string, asked: Debian): Component {
  const { name, license, scope } = asked;
  const version = debian.get(name);
  if (version === undefined) throw new Error(`the Dockerfile pins no version of ${name}`);
  // A + is a blank to some readers of URLs; the version's epoch ends with a colon.
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=bookworm`;
  return { type: "library", "bom-ref": purl, name, version, scope, licenses: licensesOf(license), purl };
}
