/** Creates the cluster's namespaces, their PID 1, which keeps them alive, and the veth pair to the host. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { childrenOf, identityOf, isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import { attempt, run } from "../host/run.ts";
import { PermanentFailure, waitUntil } from "../host/wait.ts";
import { HOST_ADDRESS, HOST_INTERFACE, NODES, POD_NETWORK, SERVICE_NETWORK } from "./addresses.ts";
import type { StateFolder } from "./state-folder.ts";

export type Namespaces = {
  readonly outer: ProcessIdentity;
  readonly init: ProcessIdentity;
  /** Resumes PID 1 of the namespaces, which waits at its start until this call. */
  readonly continueInit: () => void;
  /** Keeps the namespaces alive after this process exits. Without this call they end with the process. */
  readonly detach: () => void;
};

const INIT_SCRIPT = join(import.meta.dirname, "namespace-init.sh");
const UNSHARE_FLAGS = ["--mount", "--net", "--pid", "--fork", "--uts", "--ipc", "--mount-proc", "--kill-child=KILL"];

export async function openNamespaces(state: StateFolder): Promise<Namespaces> {
  mkdirSync(state.logFolder, { recursive: true });
  const log = openSync(join(state.logFolder, "namespaces.log"), "a");
  const [first, second] = NODES;
  const child = spawn(
    "unshare",
    [...UNSHARE_FLAGS, "bash", INIT_SCRIPT, state.root, first.address, second.address, HOST_ADDRESS],
    {
      detached: true,
      stdio: ["pipe", log, log],
      env: { PATH: process.env["PATH"] ?? "", HOME: state.root },
    },
  );
  closeSync(log);
  await once(child, "spawn");
  child.unref();
  const outer = identityOf(child.pid ?? 0);
  if (outer === undefined) throw new Error(`unshare ended at once: ${readLogTail(state)}`);
  const init = await waitUntil({ condition: "the namespaces are open", withinMs: 10_000, everyMs: 10 }, () => {
    if (!isAlive(outer)) throw new PermanentFailure(`unshare ended at once: ${readLogTail(state)}`);
    return childrenOf(outer.pid).map(identityOf)[0];
  });
  return {
    outer,
    init,
    continueInit: () => void child.stdin?.write("go\n"),
    detach: () => void child.stdin?.end("stay\n"),
  };
}

/** Creates the veth pair; call it before `continueInit`. The kernel deletes the host's end together with the other end. */
export async function connectHost(init: ProcessIdentity): Promise<void> {
  await run("ip", ["link", "add", HOST_INTERFACE, "type", "veth", "peer", "name", "lan0", "netns", String(init.pid)]);
  await run("ip", ["address", "add", `${HOST_ADDRESS}/24`, "dev", HOST_INTERFACE]);
  await run("ip", ["link", "set", HOST_INTERFACE, "up"]);
  for (const network of [POD_NETWORK, SERVICE_NETWORK]) {
    await run("ip", ["route", "add", network, "via", NODES[0].address]);
  }
}

/** Reports whether the interface name or the networks are already in use on this host. */
export async function findHostConflict(): Promise<string | undefined> {
  if ((await attempt("ip", ["link", "show", HOST_INTERFACE])).status === 0)
    return `the network device ${HOST_INTERFACE} already exists`;
  for (const network of [`${HOST_ADDRESS}/24`, POD_NETWORK, SERVICE_NETWORK]) {
    const { output } = await attempt("ip", ["-o", "route", "show", "root", network]);
    if (output.trim() !== "") return `this machine already has a route to ${network}: ${output.trim()}`;
  }
  return undefined;
}

/** Deletes the host's end if it still exists. */
export async function disconnectHost(): Promise<void> {
  await waitUntil({ condition: `the network device ${HOST_INTERFACE} is deleted`, withinMs: 10_000 }, async () => {
    await attempt("ip", ["link", "delete", HOST_INTERFACE]);
    return (await attempt("ip", ["link", "show", HOST_INTERFACE])).status === 0 ? undefined : true;
  });
}

export function readLogTail(state: StateFolder, name = "namespaces"): string {
  try {
    return readFileSync(join(state.logFolder, `${name}.log`), "utf8")
      .trim()
      .slice(-1500);
  } catch {
    return "(no log)";
  }
}
