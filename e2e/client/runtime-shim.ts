/**
 * Delays the start of processes in one Pod: suspends the Pod's containerd-shim with SIGSTOP. Running processes and the network
 * are not affected. Requires the suite's own cluster, whose processes run on this host.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { V1Pod } from "@kubernetes/client-node";
import { identityOf, isAlive, parentOf } from "../host/process-identity.ts";

export type SuspendedShim = { readonly resume: () => void };

/** @throws if the Pod's shim is not found. */
export function suspendShimOf(pod: V1Pod): SuspendedShim {
  const uid = pod.metadata?.uid ?? "no uid";
  const containerProcess = listProcesses().find((pid) => readProcFile(pid, "cgroup").includes(`pod${uid}/`));
  const shim = containerProcess === undefined ? undefined : ancestorNamed(containerProcess, "containerd-shim");
  const identity = shim === undefined ? undefined : identityOf(shim);
  if (identity === undefined)
    throw new Error(`Pod ${pod.metadata?.name} has no containerd-shim process on this machine.`);
  process.kill(identity.pid, "SIGSTOP");
  return {
    resume: () => {
      if (isAlive(identity)) process.kill(identity.pid, "SIGCONT");
    },
  };
}

function listProcesses(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
}

function ancestorNamed(pid: number, name: string): number | undefined {
  for (let ancestor = parentOf(pid); ancestor > 1; ancestor = parentOf(ancestor)) {
    if (readProcFile(ancestor, "comm").startsWith(name)) return ancestor;
  }
  return undefined;
}

function readProcFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
