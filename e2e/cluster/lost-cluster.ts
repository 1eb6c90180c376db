/** Finds the processes of a cluster by their arguments, if its record is missing, for example after a cleanup of /tmp. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { childrenOf, identityOf, type ProcessIdentity } from "../host/process-identity.ts";
import type { StateFolder } from "./state-folder.ts";

/**
 * Finds the unshare processes whose arguments have the cluster's script and this state folder, and whose log is on this file
 * system: in another mount namespace the same path is the folder of another cluster.
 */
export function findLostCluster(state: StateFolder): readonly ProcessIdentity[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => isClusterProcess(readArguments(pid), state) && logsToSameFileSystem(pid, state))
    .flatMap((pid) => [...childrenOf(pid), pid])
    .flatMap((pid) => identityOf(pid) ?? []);
}

function isClusterProcess(args: readonly string[], state: StateFolder): boolean {
  return args[0] === "unshare" && args.some((arg) => arg.endsWith("/namespace-init.sh")) && args.includes(state.root);
}

/** The log stays open after the folder is deleted, and identifies the file system. */
function logsToSameFileSystem(pid: number, state: StateFolder): boolean {
  try {
    return statSync(`/proc/${pid}/fd/1`).dev === statSync(dirname(state.root)).dev;
  } catch {
    return false;
  }
}

function readArguments(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
