/** Reads small files of /proc. */
import { readFileSync } from "node:fs";

export function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
