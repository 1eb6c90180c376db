/** Builds the preload library for this processor before the cases, at the path from which local Pods load it. */
import { join } from "node:path";
import { buildPreload } from "../../../native/build/preload.ts";

const ROOT = join(import.meta.dirname, "../../..");

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(): Promise<void> {
  const processor = process.arch === "arm64" ? "arm64" : "x64";
  await buildPreload(processor, join(ROOT, `build/native/lastcall-preload-${processor}.so`));
}
