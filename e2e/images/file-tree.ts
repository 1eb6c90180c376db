/** Lists files and folders of the host as archive entries: sorted, with all parent folders, without owners. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TarEntry } from "./tar.ts";

export type Content = {
  /** A file or folder of the host; links are followed. */
  readonly from: string;
  /** Absolute path in the image. */
  readonly to: string;
};

export function treeEntries(contents: readonly Content[]): readonly TarEntry[] {
  const files = new Map(contents.flatMap(filesOf));
  const folders = new Set([...files.keys()].flatMap(parentsOf));
  const entries: readonly TarEntry[] = [
    ...[...folders].map((path) => ({ path, mode: 0o755, content: undefined })),
    ...[...files].map(([path, from]) => ({ path, mode: modeOf(from), content: readFileSync(from) })),
  ];
  // A folder's path is a prefix of its contents' paths, so it comes first.
  return [...entries].sort((one, other) => (one.path < other.path ? -1 : 1));
}

function filesOf({ from, to }: Content): readonly (readonly [string, string])[] {
  if (!statSync(from).isDirectory()) return [[to.replace(/^\//, ""), from]];
  return readdirSync(from).flatMap((name) => filesOf({ from: join(from, name), to: `${to}/${name}` }));
}

function parentsOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

/** Preserves only the executable bit: the other mode bits depend on the checkout. */
function modeOf(file: string): number {
  return (statSync(file).mode & 0o100) === 0 ? 0o644 : 0o755;
}
