/** Bundles the programs as plain JavaScript for the images and the npm package. */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const BASE_OPTIONS: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  outExtension: { ".js": ".mjs" },
  // CommonJS packages call require, which ES modules lack.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  legalComments: "linked",
  logLevel: "warning",
};

const PROGRAMS = {
  lastcall: {
    ...BASE_OPTIONS,
    entryPoints: { lastcall: "src/lastcall.ts" },
    // A command loads only the chunks that it needs: the client of the Kubernetes API alone has several megabytes.
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
  },
  manager: {
    ...BASE_OPTIONS,
    entryPoints: { "lastcall-manager": "src/manager/node-main.ts" },
    external: ["koffi"],
  },
} as const satisfies Readonly<Record<string, BuildOptions>>;

export type BundledProgram = keyof typeof PROGRAMS;

/**
 * Writes `lastcall/lastcall.mjs` with its lazily loaded chunks, and `manager/lastcall-manager.mjs`. The latter does not
 * include koffi, which loads a compiled library beside its own file. Replaces the folder.
 */
export async function bundleInto(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, options] of Object.entries(PROGRAMS)) await build({ ...options, outdir: `${folder}/${name}` });
}

/** Lists the sources in a program's bundle, relative to the project's folder. Does not write files. */
export async function sourcesOf(program: BundledProgram): Promise<readonly string[]> {
  const { metafile } = await build({ ...PROGRAMS[program], outdir: "build/unwritten", write: false, metafile: true });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return [...new Set(inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file))].sort();
}
