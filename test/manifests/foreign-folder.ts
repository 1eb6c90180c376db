/**
 * Finds manifests of other projects in a folder outside of this repository. `LASTCALL_MANIFESTS` names the
 * folder, which must then exist.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const BESIDE = "../shared/real-manifests";

export function foreignFolder(): string | undefined {
  const named = process.env["LASTCALL_MANIFESTS"];
  const folder = resolve(ROOT, named ?? BESIDE);
  if (existsSync(folder)) return folder;
  if (named !== undefined) throw new Error(`LASTCALL_MANIFESTS=${named}: there is no ${folder}`);
  return undefined;
}

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default function setup(): void {
  if (foreignFolder() !== undefined) return;
  process.stdout.write(
    `foreign manifests are not tried: there is no ${BESIDE}, and LASTCALL_MANIFESTS names no folder\n`,
  );
}
