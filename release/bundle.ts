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

/**
 * Writes `lastcall/lastcall.mjs` with the parts it loads when it needs them, and `manager/lastcall-manager.mjs`, which
 * stands alone but for koffi: that loads a compiled file that lies beside its own. Replaces what was there.
 */
export async function bundleInto(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    ...PLAIN,
    entryPoints: { lastcall: "src/lastcall.ts" },
    outdir: `${folder}/lastcall`,
    // What a command does not need stays a file that is never read: the API server's client alone is megabytes.
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
  });
  await build({
    ...PLAIN,
    entryPoints: { "lastcall-manager": "src/manager/node-main.ts" },
    outdir: `${folder}/manager`,
    external: ["koffi"],
  });
}
