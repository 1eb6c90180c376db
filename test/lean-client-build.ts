/** Builds the file for `lean-client.ts` before the tests, once per version of the packages. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, "build/lean-client");
const CLIENT = join(FOLDER, "kube-config.mjs");

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(): Promise<void> {
  const firstLine = `// ${createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .digest("hex")}`;
  if (existsSync(CLIENT) && readFileSync(CLIENT, "utf8").startsWith(firstLine)) return;
  mkdirSync(FOLDER, { recursive: true });
  const draft = mkdtempSync(join(FOLDER, "draft-"));
  const requireOf =
    'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';
  await build({
    // The entry point is the file through which programs import the Kubernetes client; it exports only the used parts.
    entryPoints: [join(ROOT, "src/api-server/kube-config.ts")],
    absWorkingDir: ROOT,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    banner: { js: `${firstLine}\n${requireOf}` },
    outfile: join(draft, "kube-config.mjs"),
    logLevel: "error",
  });
  // The rename prevents that a program loads a file which a concurrent run is still writing.
  renameSync(join(draft, "kube-config.mjs"), CLIENT);
  rmSync(draft, { recursive: true });
}
