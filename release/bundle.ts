/** The programs as plain JavaScript, as images carry them. */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Writes `lastcall.mjs`, `lastcall-manager.mjs` and the parts they load when they need them; replaces what was there. */
export async function bundleInto(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: { lastcall: "src/lastcall.ts", "lastcall-manager": "src/manager/node-main.ts" },
    bundle: true,
    // What a command does not need stays a file that is never read: the API server's client alone is megabytes.
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node24",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    chunkNames: "parts/[name]-[hash]",
    // It loads a compiled file that lies beside its own.
    external: ["koffi"],
    // Packages in the older module format ask for a require that this format lacks.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    legalComments: "linked",
    logLevel: "warning",
  });
}
