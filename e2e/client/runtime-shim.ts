/**
 * Delays the start of processes in one Pod by stopping the runtime's shim. Running processes and the network are not
 * affected. It works only on the suite's own cluster, whose processes run on this host.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { V1Pod } from "@kubernetes/client-node";
import { identityOf, isAlive, parentOf } from "../host/process-identity.ts";

export type StoppedShim = { readonly goOn: () => void };

/** @throws if the Pod's shim is not found. */
export function stopShimOf(pod: V1Pod): StoppedShim {
  const uid = pod.metadata?.uid ?? "no uid";
  const inside = processes().find((pid) => textOf(pid, "cgroup").includes(`pod${uid}/`));
  const shim = inside === undefined ? undefined : ancestorNamed(inside, "containerd-shim");
  const identity = shim === undefined ? undefined : identityOf(shim);
  if (identity === undefined)
    throw new Error(`Pod ${pod.metadata?.name} has no containerd-shim process on this machine.`);
  process.kill(identity.pid, "SIGSTOP");
  return {
    goOn: () => {
      if (isAlive(identity)) process.kill(identity.pid, "SIGCONT");
    },
  };
}

function processes(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
}

function ancestorNamed(pid: number, name: string): number | undefined {
  for (let at = parentOf(pid); at > 1; at = parentOf(at)) {
    if (textOf(at, "comm").startsWith(name)) return at;
  }
  return undefined;
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
