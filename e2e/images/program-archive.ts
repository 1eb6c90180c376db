/** A program of another project as an image: the file itself, and the libraries it is linked to. */
import { basename } from "node:path";
import { attempt } from "../host/run.ts";
import { writeArchive } from "./archive-file.ts";
import { type Layer, makeLayer } from "./docker-archive.ts";
import { type Content, treeEntries } from "./file-tree.ts";

export type PackedProgram = {
  /** With a tag. */
  readonly name: string;
  /** A file of this machine; in the image it is in `/bin`, under its own name. */
  readonly program: string;
  /** Number of the user and, after a colon, of the group. */
  readonly user: string;
  /** What lies below it, for example what starts it. */
  readonly below?: readonly Layer[];
  /** The program itself unless it is said. */
  readonly entrypoint?: readonly string[];
};

/** The archive's path. @param cache folder that archives are kept in */
export async function programArchive(packed: readonly PackedProgram[], cache: string, nowMs: number): Promise<string> {
  const images = await Promise.all(
    packed.map(async ({ name, program, user, below = [], entrypoint }) => {
      const to = `/bin/${basename(program)}`;
      const layer = makeLayer(treeEntries([{ from: program, to }, ...(await librariesOf(program))]));
      return { name, user, entrypoint: entrypoint ?? [to], layers: [...below, layer] };
    }),
  );
  return writeArchive(images, cache, nowMs);
}

/** None for a program that is linked statically, which ldd says with a status of its own. */
async function librariesOf(program: string): Promise<readonly Content[]> {
  const { output } = await attempt("ldd", [program]);
  return [...output.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) =>
    path === undefined ? [] : [{ from: path, to: path }],
  );
}
