/** Locates the cache of builds, which is outside the repository; its folders are named by a hash of their inputs. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Returns the absolute path of `LASTCALL_CACHE`, by default of `~/.cache/lastcall`. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const chosenFolder = env["LASTCALL_CACHE"];
  return chosenFolder === undefined || chosenFolder === ""
    ? join(homedir(), ".cache", "lastcall")
    : resolve(chosenFolder);
}
