/** Measures the resident memory of an idle webhook, run from sources and from the bundle of a release. */
import { join } from "node:path";
import { bundleInto } from "../release/bundle.ts";
import type { IdleMemory } from "./admission-text.ts";
import { readResidentBytes } from "./process-cost.ts";
import { startServer } from "./server-process.ts";

const ROOT = join(import.meta.dirname, "..");
const SETTLE_MS = 2_000;

export type CertificatePair = { readonly cert: string; readonly key: string };

export async function measureIdleMemory(folder: string, certificateFiles: CertificatePair): Promise<IdleMemory[]> {
  const releaseFolder = join(folder, "release");
  await bundleInto(releaseFolder);
  const bundleArgs = [join(releaseFolder, "lastcall/lastcall.mjs"), "webhook"];
  const certificateFlags = [`--cert=${certificateFiles.cert}`, `--key=${certificateFiles.key}`];
  const setups: readonly (readonly [string, readonly string[]])[] = [
    ["bundled as released, certificate from files", [...bundleArgs, ...certificateFlags]],
    ["bundled as released, certificate made in memory", bundleArgs],
    ["from sources, certificate from files", [join(ROOT, "src/lastcall.ts"), "webhook", ...certificateFlags]],
  ];
  const results: IdleMemory[] = [];
  for (const [setup, args] of setups) {
    const server = await startServer(setup, [...args, "--port=0", "--host=127.0.0.1"], join(folder, "idle.log"));
    try {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      results.push({ setup, bytes: readResidentBytes(server.pid) });
    } finally {
      await server.stop();
    }
  }
  return results;
}
