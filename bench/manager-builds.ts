/** Makes the programs that are compared: both builds of the manager, and the least a program can be. */
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
  /** Everything a container needs to run it, in bytes; of Node without the C library it is linked with. */
  readonly bytes: number;
  /** The same without symbols. */
  readonly strippedBytes: number;
};

/** @param folder for what is made only for this run */
export async function makeBuilds(folder: string): Promise<readonly Build[]> {
  const native = (await buildManager("x64")).file;
  const bundle = await bundleManager(folder);
  const pause = join(folder, "pause");
  execFileSync("musl-gcc", ["-Os", "-static", "-s", "-o", pause, join(import.meta.dirname, "manager-pause.c")]);
  // A copy of its own, or this benchmark's Node would share its pages and halve what the kernel says of it.
  const node = join(folder, "node");
  copyFileSync(process.execPath, node);
  return [
    describeBuild("native", [native], [native], folder),
    describeBuild("node", [node, bundle], [node, bundle, foreignCalls()], folder),
    describeBuild("pause", [pause], [pause], folder),
  ];
}

/** As an image carries it: one file, with the package for C calls beside it. */
async function bundleManager(folder: string): Promise<string> {
  const bundle = join(folder, "manager.mjs");
  await build({
    entryPoints: [join(ROOT, "src/manager/node-main.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: bundle,
    // Node looks for the package from the place of the bundle, which is no place it is installed in.
    define: { "import.meta.url": JSON.stringify(new URL(`file://${ROOT}/src/manager/node-main.ts`).href) },
    logLevel: "error",
  });
  return bundle;
}

/** The library by which Node calls C. */
function foreignCalls(): string {
  const folder = join(ROOT, "node_modules/@koromix");
  const [name] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".node"));
  if (name === undefined) throw new Error(`no library for C calls below ${folder}; run npm ci`);
  return join(folder, name);
}

function describeBuild(name: BuildName, command: readonly string[], files: readonly string[], folder: string): Build {
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return { name, command, bytes, strippedBytes: files.reduce((sum, file) => sum + strippedSize(file, folder), 0) };
}

function strippedSize(file: string, folder: string): number {
  if (file.endsWith(".mjs")) return statSync(file).size;
  const copy = join(folder, "stripped");
  execFileSync("strip", ["-o", copy, file]);
  return statSync(copy).size;
}
