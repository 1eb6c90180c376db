/** Converts packages of an npm lock file to components. */
import { readFileSync } from "node:fs";
import { type Component, IMAGE_KEY, licensesOf, type Parts } from "./cyclonedx.ts";

type LockedPackage = {
  /** Set only for aliased packages, whose folder has another name. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};

/** Packages by folder, such as `node_modules/a/node_modules/b`. */
export type LockFilePackages = Readonly<Record<string, LockedPackage>>;

export function readLockFile(file: string): LockFilePackages {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}

/** @throws Error when the lock file lacks a folder or its version or hash */
export function lockedPackageParts(
  lock: LockFilePackages,
  folders: readonly string[],
  scope: Component["scope"] = "required",
): Parts {
  const components = new Map<string, Component>();
  const dependencyRefs = (folder: string): readonly string[] => {
    const dependencies = dependenciesOf(lock, folder).filter((other) => folders.includes(other));
    return dependencies.map((other) => componentOf(lock, other, scope)["bom-ref"]);
  };
  const uses = new Map([[IMAGE_KEY, dependencyRefs("")]]);
  for (const folder of folders) {
    const component = componentOf(lock, folder, scope);
    const ref = component["bom-ref"];
    components.set(ref, component);
    // Two folders may contain the same version.
    const refs = new Set([...(uses.get(ref) ?? []), ...dependencyRefs(folder)]);
    if (refs.size > 0) uses.set(ref, [...refs]);
  }
  return { components: [...components.values()], uses };
}

function componentOf(lock: LockFilePackages, folder: string, scope: Component["scope"]): Component {
  const { name: alias, version, integrity = "", license } = lock[folder] ?? {};
  const [, base64] = /^sha512-(\S+)$/.exec(integrity) ?? [];
  if (version === undefined || base64 === undefined)
    throw new Error(`the lock file has no version or hash of ${folder}`);
  const fullName = alias ?? folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
  const [name = "", group] = fullName.split("/").reverse();
  const purl = `pkg:npm/${fullName.replace("@", "%40")}@${encodeURIComponent(version)}`;
  return {
    type: "library",
    "bom-ref": purl,
    ...(group === undefined ? {} : { group }),
    name,
    version,
    scope,
    hashes: [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }],
    ...(license === undefined ? {} : { licenses: licensesOf(license) }),
    purl,
  };
}

/** Resolves a package's dependencies as Node does: from the nearest node_modules that has them. */
function dependenciesOf(lock: LockFilePackages, folder: string): readonly string[] {
  const { devDependencies, dependencies, optionalDependencies, peerDependencies } = lock[folder] ?? {};
  const dependencyNames = Object.keys({
    ...devDependencies,
    ...dependencies,
    ...optionalDependencies,
    ...peerDependencies,
  });
  const ancestorFolders = folder
    .split("/node_modules/")
    .map((_, depth, parts) => parts.slice(0, depth + 1).join("/node_modules/"));
  return dependencyNames.flatMap((name) => {
    const candidates = ancestorFolders.toReversed().map((ancestor) => `${ancestor}/node_modules/${name}`);
    const dependencyFolder = [...candidates, `node_modules/${name}`].find((candidate) => candidate in lock);
    return dependencyFolder === undefined ? [] : [dependencyFolder];
  });
}
