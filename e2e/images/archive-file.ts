/** Caches archives by content, so that an unchanged archive is not written again. */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { dockerArchive, type Image } from "./docker-archive.ts";

/** Archives that were not used for this long are deleted. */
const MAX_UNUSED_MS = 24 * 3600 * 1000;

/** Writes the archive under a temporary name, renames it, and returns its path. */
export function writeArchive(images: readonly Image[], cache: string, nowMs: number): string {
  const parts = dockerArchive(images);
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  const folder = join(cache, "images");
  mkdirSync(folder, { recursive: true });
  deleteUnusedArchives(folder, nowMs);
  const file = join(folder, `${hash.digest("hex").slice(0, 16)}.tar`);
  if (existsSync(file)) {
    utimesSync(file, nowMs / 1000, nowMs / 1000);
    return file;
  }
  const temporaryFile = `${file}.${process.pid}`;
  const descriptor = openSync(temporaryFile, "w");
  for (const part of parts) writeFully(descriptor, part);
  closeSync(descriptor);
  renameSync(temporaryFile, file);
  return file;
}

function deleteUnusedArchives(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) < nowMs - MAX_UNUSED_MS)
      rmSync(file, { force: true });
  }
}

function writeFully(out: number, part: Uint8Array): void {
  for (let offset = 0; offset < part.length; ) offset += writeSync(out, part, offset);
}
