/** The packages that are needed at run time, as the lock file says: what `npm ci --omit=dev` would install. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Lock = { readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>> };

/** Folders below `root`, for example `node_modules/fastify`. Without optional ones: they are for one platform each. */
export function productionPackages(root: string): readonly string[] {
  const lock: Lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const needed = Object.entries(lock.packages)
    .filter(([path, { dev, optional }]) => path !== "" && dev !== true && optional !== true)
    .map(([path]) => path);
  // One package's folder may lie in another's; the outer one brings it.
  return needed.filter((path) => !needed.some((other) => path.startsWith(`${other}/node_modules/`)));
}
