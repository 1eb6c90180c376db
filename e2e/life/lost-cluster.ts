/** A cluster whose record was lost, to a cleaner of /tmp for example: found by the words it was started with. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { childrenOf, identityOf, type ProcessIdentity } from "../host/process-identity.ts";
import type { StateFolder } from "./state-folder.ts";

/**
 * Our own unshare, its script, this very state folder, and a log on this very file system: in another mount namespace the
 * same path is another folder, and the cluster someone else's.
 */
export function findLostCluster(state: StateFolder): readonly ProcessIdentity[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => isOurs(wordsOf(pid), state) && writesBeside(pid, state))
    .flatMap((pid) => [...childrenOf(pid), pid])
    .flatMap((pid) => identityOf(pid) ?? []);
}

function isOurs(words: readonly string[], state: StateFolder): boolean {
  return (
    words[0] === "unshare" && words.some((word) => word.endsWith("/namespace-init.sh")) && words.includes(state.root)
  );
}

/** Its log stays open when the folder is deleted, and keeps telling the file system. */
function writesBeside(pid: number, state: StateFolder): boolean {
  try {
    return statSync(`/proc/${pid}/fd/1`).dev === statSync(dirname(state.root)).dev;
  } catch {
    return false;
  }
}

function wordsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
