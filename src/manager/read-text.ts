/** Reads files of /proc, at once or in pieces. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

export function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** One read of a /proc table returns at most one memory page. */
const PIECE_BYTES = 4_096;

export function scanTextFile(path: string, onPiece: (piece: string) => boolean): "read" | "broken" | "missing" {
  let fd = -1;
  try {
    fd = openSync(path, "r");
  } catch {
    return "missing";
  }
  const end = scan(fd, onPiece);
  closeSync(fd);
  return end;
}

function scan(fd: number, onPiece: (piece: string) => boolean): "read" | "broken" {
  const bytes = Buffer.alloc(PIECE_BYTES);
  try {
    while (true) {
      const length = readSync(fd, bytes, 0, PIECE_BYTES, null);
      if (length <= 0 || !onPiece(bytes.toString("latin1", 0, length))) return "read";
    }
  } catch {
    return "broken";
  }
}
