/**
 * Finds the folder with manifests of other projects, outside of this repository. If `LASTCALL_MANIFESTS` names a folder, that
 * folder must exist.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const DEFAULT_FOLDER = "../shared/real-manifests";

export function foreignFolder(): string | undefined {
  const configured = process.env["LASTCALL_MANIFESTS"];
  const folder = resolve(ROOT, configured ?? DEFAULT_FOLDER);
  if (existsSync(folder)) return folder;
  if (configured !== undefined) throw new Error(`LASTCALL_MANIFESTS=${configured}: there is no ${folder}`);
  return undefined;
}

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default function setup(): void {
  if (foreignFolder() !== undefined) return;
  process.stdout.write(
    `foreign manifests are not tried: there is no ${DEFAULT_FOLDER}, and LASTCALL_MANIFESTS names no folder\n`,
  );
}
