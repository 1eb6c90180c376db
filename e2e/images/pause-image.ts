/** Builds the image of the sandbox container, which keeps a Pod's namespaces open. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PAUSE_IMAGE } from "../cluster/node-programs.ts";
import { writeArchive } from "./archive-file.ts";
import { makeLayer } from "./docker-archive.ts";

/** @param binaries folder with the built program. @returns the archive's path */
export function writePauseArchive(binaries: string, cache: string, nowMs: number): string {
  const layer = makeLayer([{ path: "pause", mode: 0o755, content: readFileSync(join(binaries, "pause")) }]);
  return writeArchive(
    [{ name: PAUSE_IMAGE, user: "65535:65535", entrypoint: ["/pause"], layers: [layer] }],
    cache,
    nowMs,
  );
}
