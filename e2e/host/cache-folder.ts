/** Locates the cache of builds, which is outside the repository; its folders are named by a hash of their inputs. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `LASTCALL_CACHE`, or `~/.cache/lastcall`. Always absolute. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const chosen = env["LASTCALL_CACHE"];
  return chosen === undefined || chosen === "" ? join(homedir(), ".cache", "lastcall") : resolve(chosen);
}
