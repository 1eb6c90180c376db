/** The manifests that a path stands for. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A folder's manifests in name order, folders below included; a file is taken whatever its name. */
export function listManifests(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return [...manifestsBelow(path)].sort();
}

/** Linked files count; linked folders do not, since a link may lead back up. */
function manifestsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return readableOrNamed(path);
    if (!/\.(ya?ml|json)$/i.test(entry.name)) return [];
    return entry.isFile() || (entry.isSymbolicLink() && !leadsElsewhere(path)) ? [path] : [];
  });
}

/** A closed folder stands for itself, so that reading it says why its manifests are missing. */
function readableOrNamed(folder: string): readonly string[] {
  try {
    return manifestsBelow(folder);
  } catch {
    return [folder];
  }
}

/** Whether a link ends at something that is no file. One that ends nowhere is kept: reading it says so. */
function leadsElsewhere(link: string): boolean {
  try {
    return !statSync(link).isFile();
  } catch {
    return false;
  }
}
