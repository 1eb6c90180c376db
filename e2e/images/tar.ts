/** Writes reproducible tar archives (ustar): without owners and times, entries in the given order. Pure. */

export type TarEntry = {
  /** The path without a leading slash; at most 255 bytes, with a slash at which the last 100 bytes or fewer can be split off. */
  readonly path: string;
  readonly mode: number;
  /** A folder has no content. */
  readonly content: Uint8Array | undefined;
};

const BLOCK_BYTES = 512;

/** Returns the parts of the archive in order, without copying contents. @throws if a path is too long. */
export function tarParts(entries: readonly TarEntry[]): readonly Uint8Array[] {
  const parts = entries.flatMap((entry) => {
    const content = entry.content ?? new Uint8Array();
    return [headerOf(entry), content, new Uint8Array(paddingOf(content.length))];
  });
  return [...parts, new Uint8Array(2 * BLOCK_BYTES)];
}

function paddingOf(length: number): number {
  return (BLOCK_BYTES - (length % BLOCK_BYTES)) % BLOCK_BYTES;
}

function headerOf(entry: TarEntry): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES);
  const isFolder = entry.content === undefined;
  const { prefix, name } = splitPath(isFolder ? `${entry.path}/` : entry.path);
  const writeOctal = (value: number, at: number, width: number) =>
    block.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at, "latin1");
  block.write(name, 0);
  writeOctal(entry.mode, 100, 8);
  writeOctal(0, 108, 8);
  writeOctal(0, 116, 8);
  writeOctal(entry.content?.length ?? 0, 124, 12);
  writeOctal(0, 136, 12);
  block.write("        ", 148, "latin1");
  block.write(isFolder ? "5" : "0", 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(prefix, 345);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** Splits a long path at a slash: up to 155 bytes before it, up to 100 after it. */
function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name };
  }
  throw new Error(`The path ${path} is too long for a tar archive.`);
}
