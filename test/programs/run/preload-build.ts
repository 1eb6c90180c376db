/** Before the cases: the preloaded library of this processor, where the local Pods look for it. */
import { join } from "node:path";
import { buildPreload } from "../../../native/build/preload.ts";

const ROOT = join(import.meta.dirname, "../../..");

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(): Promise<void> {
  const processor = process.arch === "arm64" ? "arm64" : "x64";
  await buildPreload(processor, join(ROOT, `build/native/lastcall-preload-${processor}.so`));
}
