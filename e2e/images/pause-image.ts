/** The image of the container that holds every Pod's namespaces. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PAUSE_IMAGE } from "../life/node-programs.ts";
import { writeArchive } from "./archive-file.ts";
import { makeLayer } from "./docker-archive.ts";

/** The archive's path. @param binaries folder with the built program. */
export function pauseArchive(binaries: string, cache: string, nowMs: number): string {
  const layer = makeLayer([{ path: "pause", mode: 0o755, content: readFileSync(join(binaries, "pause")) }]);
  return writeArchive(
    [{ name: PAUSE_IMAGE, user: "65535:65535", entrypoint: ["/pause"], layers: [layer] }],
    cache,
    nowMs,
  );
}
