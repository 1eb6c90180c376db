/** Measures the resident memory of an idle webhook, run from sources and from the bundle of a release. */
import { join } from "node:path";
import { bundleInto } from "../release/bundle.ts";
import type { IdleMemory } from "./admission-text.ts";
import { readResidentBytes } from "./process-cost.ts";
import { startServer } from "./server-process.ts";

const ROOT = join(import.meta.dirname, "..");
const SETTLE_MS = 2_000;

export type CertificatePair = { readonly cert: string; readonly key: string };

export async function measureIdleMemory(folder: string, pair: CertificatePair): Promise<IdleMemory[]> {
  const release = join(folder, "release");
  await bundleInto(release);
  const bundle = [join(release, "lastcall/lastcall.mjs"), "webhook"];
  const files = [`--cert=${pair.cert}`, `--key=${pair.key}`];
  const setups: readonly (readonly [string, readonly string[]])[] = [
    ["bundled as released, certificate from files", [...bundle, ...files]],
    ["bundled as released, certificate made in memory", bundle],
    ["from sources, certificate from files", [join(ROOT, "src/lastcall.ts"), "webhook", ...files]],
  ];
  const measured: IdleMemory[] = [];
  for (const [setup, args] of setups) {
    const server = await startServer(setup, [...args, "--port=0", "--host=127.0.0.1"], join(folder, "idle.log"));
    try {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      measured.push({ setup, bytes: readResidentBytes(server.pid) });
    } finally {
      await server.stop();
    }
  }
  return measured;
}
