/** The folder outside the repository that keeps what is expensive to make: built binaries, by the hash of what made them. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `LASTCALL_CACHE`, else `~/.cache/lastcall`. Always absolute. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const chosen = env["LASTCALL_CACHE"];
  return chosen === undefined || chosen === "" ? join(homedir(), ".cache", "lastcall") : resolve(chosen);
}
