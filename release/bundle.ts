/** The programs as plain JavaScript, as images carry them. */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const PLAIN: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  outExtension: { ".js": ".mjs" },
  // Packages in the older module format ask for a require that this format lacks.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  legalComments: "linked",
  logLevel: "warning",
};

/** By program, all but the folder it is written to. */
const PROGRAMS = {
  lastcall: {
    ...PLAIN,
    entryPoints: { lastcall: "src/lastcall.ts" },
    // What a command does not need stays a file that is never read: the API server's client alone is megabytes.
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
  },
  manager: {
    ...PLAIN,
    entryPoints: { "lastcall-manager": "src/manager/node-main.ts" },
    external: ["koffi"],
  },
} as const satisfies Readonly<Record<string, BuildOptions>>;

export type BundledProgram = keyof typeof PROGRAMS;

/**
 * Writes `lastcall/lastcall.mjs` with the parts it loads when it needs them, and `manager/lastcall-manager.mjs`, which
 * stands alone but for koffi: that loads a compiled file that lies beside its own. Replaces what was there.
 */
export async function bundleInto(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, options] of Object.entries(PROGRAMS)) await build({ ...options, outdir: `${folder}/${name}` });
}

/** The sources whose code is in a program's bundle, from the project's folder. Writes nothing. */
export async function sourcesOf(program: BundledProgram): Promise<readonly string[]> {
  const { metafile } = await build({ ...PROGRAMS[program], outdir: "build/unwritten", write: false, metafile: true });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return [...new Set(inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file))].sort();
}
