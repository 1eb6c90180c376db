/** Stops a cluster, if one exists: kills its processes by PID and start time, then removes its network, cgroups and files. */
import { existsSync, rmSync } from "node:fs";
import { isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import { waitUntil } from "../host/wait.ts";
import { removeCgroups } from "./cgroups.ts";
import { findLostCluster } from "./lost-cluster.ts";
import { disconnectHost } from "./namespaces.ts";
import { readRecord } from "./record.ts";
import type { StateFolder } from "./state-folder.ts";

/** Returns whether a cluster existed. The caller must hold the lock. */
export async function stopCluster(state: StateFolder): Promise<boolean> {
  const record = readRecord(state.recordFile);
  // When PID 1 of the cluster's PID namespace ends, the kernel kills all other processes of the namespace, and unshare exits.
  const processes = record === undefined ? findLostCluster(state) : [record.init, record.outer];
  for (const process of processes) killProcess(process);
  for (const process of processes) {
    await waitUntil({ condition: `process ${process.pid} has ended`, withinMs: 30_000, everyMs: 20 }, () =>
      isAlive(process) ? undefined : true,
    );
  }
  const hasFolder = existsSync(state.root);
  if (hasFolder || processes.length > 0) {
    await disconnectHost();
    await removeCgroups();
  }
  rmSync(state.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  return hasFolder || processes.length > 0;
}

function killProcess(target: ProcessIdentity): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, "SIGKILL");
  } catch {
    // The process exited after the check.
  }
}
