/** Builds the programs to compare: the native and the Node build of the manager, and a program that only waits. */
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { buildManager } from "../native/build/build.ts";

const ROOT = join(import.meta.dirname, "..");

export type BuildName = "native" | "node" | "pause";

export type Build = {
  readonly name: BuildName;
  readonly command: readonly string[];
  /** Size of all files that a container needs to run the build, except the C library that Node is linked with. */
  readonly bytes: number;
  readonly strippedBytes: number;
};

export async function makeBuilds(folder: string): Promise<readonly Build[]> {
  const native = (await buildManager("x64")).file;
  const bundle = await bundleManager(folder);
  const pause = join(folder, "pause");
  execFileSync("musl-gcc", ["-Os", "-static", "-s", "-o", pause, join(import.meta.dirname, "manager-pause.c")]);
  // A copied binary does not share pages with the Node that runs this benchmark. Shared pages would halve the PSS.
  const node = join(folder, "node");
  copyFileSync(process.execPath, node);
  return [
    describeBuild("native", [native], [native], folder),
    describeBuild("node", [node, bundle], [node, bundle, findKoffiLibrary()], folder),
    describeBuild("pause", [pause], [pause], folder),
  ];
}

async function bundleManager(folder: string): Promise<string> {
  const bundle = join(folder, "manager.mjs");
  await build({
    entryPoints: [join(ROOT, "src/manager/node-main.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: bundle,
    // Node resolves koffi relative to the bundle, but it is installed in the project's folder.
    define: { "import.meta.url": JSON.stringify(new URL(`file://${ROOT}/src/manager/node-main.ts`).href) },
    logLevel: "error",
  });
  return bundle;
}

function findKoffiLibrary(): string {
  const folder = join(ROOT, "node_modules/@koromix");
  const [name] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".node"));
  if (name === undefined) throw new Error(`${folder} has no compiled library of koffi; run npm ci`);
  return join(folder, name);
}

function describeBuild(name: BuildName, command: readonly string[], files: readonly string[], folder: string): Build {
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return {
    name,
    command,
    bytes,
    strippedBytes: files.reduce((sum, file) => sum + measureStrippedSize(file, folder), 0),
  };
}

function measureStrippedSize(file: string, folder: string): number {
  if (file.endsWith(".mjs")) return statSync(file).size;
  const copy = join(folder, "stripped");
  execFileSync("strip", ["-o", copy, file]);
  return statSync(copy).size;
}
