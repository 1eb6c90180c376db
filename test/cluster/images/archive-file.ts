/** An archive kept in the cache by its content, so that what did not change is not written again. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { dockerArchive, type Image } from "./docker-archive.ts";

/** The file's path. Appears whole, by a rename. */
export function writeArchive(images: readonly Image[], cache: string): string {
  const parts = dockerArchive(images);
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  const folder = join(cache, "images");
  const file = join(folder, `${hash.digest("hex").slice(0, 16)}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  const out = openSync(unfinished, "w");
  for (const part of parts) writeWhole(out, part);
  closeSync(out);
  renameSync(unfinished, file);
  return file;
}

function writeWhole(out: number, part: Uint8Array): void {
  for (let at = 0; at < part.length; ) at += writeSync(out, part, at);
}
