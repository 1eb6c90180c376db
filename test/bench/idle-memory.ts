/** Resident memory of a webhook nobody asks anything: from sources, and as the one file a release is bundled into. */
import { join } from "node:path";
import { build } from "esbuild";
import type { IdleMemory } from "./admission-text.ts";
import { residentBytes } from "./process-cost.ts";
import { startServer } from "./server-process.ts";

const ROOT = join(import.meta.dirname, "../..");
/** After this time the start is over and nothing moves any more. */
const SETTLE_MS = 2_000;

export type CertificatePair = { readonly cert: string; readonly key: string };

export async function idleMemory(folder: string, pair: CertificatePair): Promise<IdleMemory[]> {
  const bundle = join(folder, "webhook.mjs");
  await build({
    stdin: {
      contents: 'import { main } from "./src/webhook/main.ts"; process.exitCode = await main(process.argv.slice(2));',
      resolveDir: ROOT,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: bundle,
    // Packages in the older module format ask for a require that this format lacks.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  const files = [`--cert=${pair.cert}`, `--key=${pair.key}`];
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ["one bundled file, certificate from files", [bundle, ...files]],
    ["one bundled file, certificate made in memory", [bundle]],
    ["from sources, certificate from files", [join(ROOT, "src/lastcall.ts"), "webhook", ...files]],
  ];
  const found: IdleMemory[] = [];
  for (const [how, args] of ways) {
    const server = await startServer(how, [...args, "--port=0", "--host=127.0.0.1"], join(folder, "idle.log"));
    try {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      found.push({ how, bytes: residentBytes(server.pid) });
    } finally {
      await server.stop();
    }
  }
  return found;
}
