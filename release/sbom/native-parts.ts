/** Lists the components of the manager's binary and of its build. */
import { LINKED_PARTS, RUNTIME_PACKAGE } from "../../native/build/linked-parts.ts";
import { TOOLCHAIN } from "../../native/build/paths.ts";
import { type Component, licensesOf, type Parts } from "./cyclonedx.ts";
import { baseImageComponent, type DockerfileFacts, debianComponent } from "./dockerfile-facts.ts";
import { lockedPackageParts, readLockFile } from "./locked-packages.ts";

const COMPILER_FOLDERS = ["node_modules/scriptc", "node_modules/@scriptc/compiler"];

/** Debian packages whose libraries are statically linked. */
const LINKED_DEBIAN_PACKAGES = [
  { name: "musl-dev", license: "MIT", scope: "required" },
  { name: "libgcc-12-dev", license: "GPL-3.0-or-later WITH GCC-exception-3.1", scope: "required" },
] as const;

const BUILD_DEBIAN_PACKAGES = [
  { name: "gcc-12", license: "GPL-3.0-or-later", scope: "excluded" },
  { name: "binutils", license: "GPL-3.0-or-later", scope: "excluded" },
] as const;

/** @param architecture Debian's name, such as amd64 */
export function nativeParts(facts: DockerfileFacts, architecture: string): Parts {
  const lock = readLockFile(`${TOOLCHAIN}/package-lock.json`);
  const runtime = lockedPackageParts(lock, [RUNTIME_PACKAGE]);
  const compiler = lockedPackageParts(lock, COMPILER_FOLDERS, "excluded");
  const debianComponents = [...LINKED_DEBIAN_PACKAGES, ...BUILD_DEBIAN_PACKAGES].map((debianPackage) =>
    debianComponent(facts, architecture, debianPackage),
  );
  const vendoredComponents = LINKED_PARTS.map(({ name, version, license, purl, cpe }): Component => {
    const licenses = licensesOf(license);
    const requiredFields = { type: "library", "bom-ref": purl, name, version, scope: "required", licenses } as const;
    return { ...requiredFields, ...(cpe === undefined ? {} : { cpe }), purl };
  });
  const vendoredRefs = vendoredComponents.map((component) => component["bom-ref"]);
  return {
    components: [
      ...runtime.components,
      ...vendoredComponents,
      ...debianComponents,
      ...compiler.components,
      baseImageComponent(facts, "excluded"),
    ],
    uses: new Map([
      ...compiler.uses,
      ...runtime.components.map((component) => [component["bom-ref"], vendoredRefs] as const),
    ]),
  };
}
