/** Tests that the SBOM of each image lists all contents of the image, in the format of CycloneDX 1.6. */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleInto } from "../../release/bundle.ts";
import { licensesOf } from "../../release/sbom/cyclonedx.ts";
import { SBOM_NAMES, type SbomName, sbomOfImage } from "../../release/sbom/images.ts";
import { lockedPackageParts, readLockFile } from "../../release/sbom/locked-packages.ts";
import { EXCEPTIONS, ROOMS } from "../architecture/rooms.ts";

const ROOT = join(import.meta.dirname, "../..");
const LOCK = readLockFile(join(ROOT, "package-lock.json"));
const TOOLCHAIN_LOCK = readLockFile(join(ROOT, "native/toolchain/package-lock.json"));

type ListedComponent = Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
type Document = { readonly components: readonly ListedComponent[] } & Readonly<Record<string, unknown>>;

const texts = new Map<SbomName, string>();
beforeAll(async () => {
  for (const name of SBOM_NAMES) texts.set(name, await sbomOfImage(name, "x64"));
}, 60_000);
const sbom = (name: SbomName): Document => JSON.parse(texts.get(name) ?? "");
const componentsOf = (name: SbomName) => sbom(name).components;
const componentNamed = (image: SbomName, name: string) =>
  componentsOf(image).find((component) => component.name === name);

/** Lists the packages in the written bundle, in which the bundler prints the name of each source above its code. */
async function bundledFolders(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-sbom-"));
  try {
    await bundleInto(folder);
    const texts = globSync(`${folder}/lastcall/**/*.mjs`).map((file) => readFileSync(file, "utf8"));
    const sources = texts.flatMap((text) => text.match(/^\s*\/\/ node_modules\/\S+$/gm) ?? []);
    const folders = sources.flatMap(
      (line) => /(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(line.replace(/^\s*\/\/ /, "")) ?? [],
    );
    return [...new Set(folders)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the SBOM of the webhook's image", () => {
  test("has every package of the bundle, with the version, hash and licence of the lock file", async () => {
    const folders = await bundledFolders();
    expect(folders.length).toBeGreaterThan(50);
    for (const folder of folders) {
      const { version, integrity = "", license } = LOCK[folder] ?? {};
      const fullName = folder.replace(/^.*node_modules\//, "");
      const found = componentsOf("webhook").find(
        ({ group, name, version: listedVersion }) =>
          [group, name].filter(Boolean).join("/") === fullName && listedVersion === version,
      );
      expect(found, folder).toMatchObject({ purl: `pkg:npm/${fullName.replace("@", "%40")}@${version}` });
      const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
      expect(found?.["hashes"]).toEqual([{ alg: "SHA-512", content }]);
      expect(found?.["licenses"], folder).toEqual(licensesOf(license ?? ""));
    }
  });

  test("has every package that the source may import", () => {
    const importable = [...Object.values(ROOMS).flatMap(({ npm }) => npm), ...Object.values(EXCEPTIONS).flat()];
    const names = componentsOf("webhook").map(({ group, name }) => [group, name].filter(Boolean).join("/"));
    const missing = importable.filter(
      (name) => !names.some((listedName) => name === listedName || name.startsWith(`${listedName}/`)),
    );
    expect([...new Set(missing)]).toEqual(["koffi"]);
  });

  test("has the base image with its digest, and the version of Node.js", () => {
    const [, digest = ""] =
      /^ARG NODE_IMAGE=\S+@sha256:(\S+)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8")) ?? [];
    for (const image of ["webhook", "manager-node"] as const) {
      const base = componentsOf(image).find(({ type }) => type === "container");
      expect(base).toMatchObject({ scope: "required", hashes: [{ alg: "SHA-256", content: digest }] });
      expect(componentNamed(image, "node")).toBeDefined();
    }
  });
});

describe("the SBOM of the manager's image", () => {
  test("has Mbed TLS and the other parts of the runtime, each with its version", () => {
    expect(componentNamed("manager", "Mbed TLS")).toMatchObject({
      version: "3.6.7",
      scope: "required",
      purl: "pkg:github/mbed-tls/mbedtls@mbedtls-3.6.7",
      cpe: "cpe:2.3:a:arm:mbed_tls:3.6.7:*:*:*:*:*:*:*",
    });
    for (const name of ["quickjs-ng", "Ryu", "libucontext", "musl-dev", "libgcc-12-dev"])
      expect(componentNamed("manager", name)?.["scope"], name).toBe("required");
  });

  test("has the compiler and its runtime as in the lock file", () => {
    for (const name of ["scriptc", "@scriptc/compiler", "@scriptc/runtime"]) {
      const found = componentNamed("manager", name.replace(/^.*\//, ""));
      expect(found?.version).toBe(TOOLCHAIN_LOCK[`node_modules/${name}`]?.version);
      expect(found?.["scope"]).toBe(name === "@scriptc/runtime" ? "required" : "excluded");
    }
  });

  test("with Node.js has koffi only with the library of the same processor", async () => {
    const compiled = JSON.parse(await sbomOfImage("manager-node", "arm64")) as Document;
    const names = compiled.components.map(({ name }) => name).filter((name) => name.startsWith("koffi"));
    expect(names).toEqual(["koffi-linux-arm64", "koffi"]);
  });
});

describe.each(SBOM_NAMES)("the SBOM of %s", (image) => {
  test("is the same in a second run", async () => {
    expect(await sbomOfImage(image, "x64")).toBe(texts.get(image));
  });

  test("does not contain a value that changes between builds", () => {
    expect(texts.get(image)).not.toMatch(/timestamp|\b20\d\d-\d\d-\d\dT/);
    expect(texts.get(image)).not.toContain(ROOT);
  });

  test("has the format of CycloneDX 1.6", () => {
    const { bomFormat, specVersion, serialNumber, version, metadata, components, dependencies } = sbom(image);
    expect({ bomFormat, specVersion, version }).toEqual({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
    expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(metadata).toMatchObject({ component: { type: "container", name: `lastcall-${image}`, version: "0.1.0" } });
    for (const component of components) expect(invalidProperties(component)).toEqual([]);
    const refs = [`lastcall-${image}`, ...components.map((component) => component["bom-ref"])];
    expect(new Set(refs).size).toBe(refs.length);
    const edges = dependencies as readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
    expect(edges.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.includes(ref))).toEqual([]);
    for (const { dependsOn } of edges) expect(new Set(dependsOn).size).toBe(dependsOn.length);
    expect(new Set(edges.map(({ ref }) => ref)).size).toBe(edges.length);
  });
});

/** Checks a component by the schema's rules for the properties that lastcall writes. */
function invalidProperties(component: ListedComponent): readonly string[] {
  const { type, name, version, scope, hashes = [], licenses = [], purl, cpe = "", ...others } = component;
  const known = ["bom-ref", "group"];
  const digests = hashes as readonly { readonly alg: string; readonly content: string }[];
  const rules: Readonly<Record<string, boolean>> = {
    type: ["application", "container", "library"].includes(String(type)),
    name: name !== "",
    version: version !== "",
    scope: ["required", "excluded"].includes(String(scope)),
    purl: /^pkg:(?:deb|generic|github|npm|oci)\/[^\s@]+@[^\s@]+$/.test(String(purl)),
    cpe: cpe === "" || /^cpe:2\.3:a(?::[^:\s]+){10}$/.test(String(cpe)),
    hashes: digests.every(({ alg, content }) =>
      alg === "SHA-512" ? /^[0-9a-f]{128}$/.test(content) : alg === "SHA-256" && /^[0-9a-f]{64}$/.test(content),
    ),
    licenses: (licenses as readonly object[]).every((license) => "license" in license || "expression" in license),
    "other properties": Object.keys(others).every((key) => known.includes(key)),
  };
  return Object.entries(rules).flatMap(([rule, isValid]) => (isValid ? [] : [`${name}: ${rule}`]));
}

test("a package without a hash in the lock file is an error of the SBOM", () => {
  expect(() => lockedPackageParts({ "node_modules/a": { version: "1.0.0" } }, ["node_modules/a"])).toThrow(
    "hash of node_modules/a",
  );
});
