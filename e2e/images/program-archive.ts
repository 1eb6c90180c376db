/** Packs a program of another project as an image, with its linked libraries. */
import { basename } from "node:path";
import { attempt } from "../host/run.ts";
import { writeArchive } from "./archive-file.ts";
import { type Layer, makeLayer } from "./docker-archive.ts";
import { type Content, treeEntries } from "./file-tree.ts";

export type PackedProgram = {
  /** The image's name with a tag. */
  readonly name: string;
  /** A file of the host; in the image it is in `/bin`, with the same name. */
  readonly program: string;
  /** User id and, after a colon, group id. */
  readonly user: string;
  /** Base layers, for example one with a launcher. */
  readonly baseLayers?: readonly Layer[];
  /** The image's entrypoint; by default the program. */
  readonly entrypoint?: readonly string[];
};

/** @param cache folder of archives. @returns the archive's path */
export async function writeProgramArchive(
  programs: readonly PackedProgram[],
  cache: string,
  nowMs: number,
): Promise<string> {
  const images = await Promise.all(
    programs.map(async ({ name, program, user, baseLayers = [], entrypoint }) => {
      const to = `/bin/${basename(program)}`;
      const layer = makeLayer(treeEntries([{ from: program, to }, ...(await librariesOf(program))]));
      return { name, user, entrypoint: entrypoint ?? [to], layers: [...baseLayers, layer] };
    }),
  );
  return writeArchive(images, cache, nowMs);
}

/** Lists the linked libraries. For a statically linked program, at which ldd fails, the list is empty. */
export async function librariesOf(program: string): Promise<readonly Content[]> {
  const { output } = await attempt("ldd", [program]);
  return [...output.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) =>
    path === undefined ? [] : [{ from: path, to: path }],
  );
}
