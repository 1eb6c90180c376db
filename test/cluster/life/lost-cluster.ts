/** A cluster whose record was lost, to a cleaner of /tmp for example: found by the words it was started with. */
import { readdirSync, readFileSync } from "node:fs";
import { childrenOf, identityOf, type ProcessIdentity } from "../host/process-identity.ts";
import type { StateFolder } from "./state-folder.ts";

/** The first word of our own unshare, and the one that only ours has: this very state folder. */
export function findLostCluster(state: StateFolder): readonly ProcessIdentity[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => isOurs(wordsOf(pid), state))
    .flatMap((pid) => [...childrenOf(pid), pid])
    .flatMap((pid) => identityOf(pid) ?? []);
}

function isOurs(words: readonly string[], state: StateFolder): boolean {
  return (
    words[0] === "unshare" && words.some((word) => word.endsWith("/namespace-init.sh")) && words.includes(state.root)
  );
}

function wordsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
