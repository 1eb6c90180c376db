/**
 * Creates a network namespace for each Pod, joined by a bridge. Runs only inside the private namespaces of
 * {@link runInside}, which the kernel removes with their last process.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { Fault } from "../../fault.ts";
import { createPodNetwork, type PodAttachment, type PodNetwork } from "./pod-network.ts";

const BRIDGE = "lastcall0";
const PREFIX = "10.66.0";
const RESERVED_HOST_NUMBERS = [1, 2, 3, 4];

/**
 * A bridge without a configured MAC address takes the lowest address of its ports, which changes whenever a Pod is added or
 * removed: Pods with the old address in their ARP cache could not respond for seconds.
 */
const BRIDGE_MAC = "02:00:0a:42:00:01";

/** @throws Fault ERR_DEMO_FAILED when `ip` or `nsenter` is missing or fails */
export async function createNamespaceNetwork(): Promise<PodNetwork> {
  await ip("link", "set", "lo", "up");
  await ip("link", "add", BRIDGE, "address", BRIDGE_MAC, "type", "bridge", "forward_delay", "0");
  for (const hostNumber of RESERVED_HOST_NUMBERS)
    await ip("address", "add", `${PREFIX}.${hostNumber}/24`, "dev", BRIDGE);
  await ip("link", "set", BRIDGE, "up");
  return createPodNetwork("namespace", PREFIX, attach);
}

async function attach(address: string, hostNumber: number): Promise<PodAttachment> {
  const holder = await startHolder();
  const enterCommand = ["nsenter", `--net=/proc/${holder.pid}/ns/net`, "--"];
  await ip("link", "add", `pod${hostNumber}`, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid));
  await ip("link", "set", `pod${hostNumber}`, "master", BRIDGE, "up");
  const runIp = (...args: string[]) => run([...enterCommand, "ip", ...args]);
  await runIp("link", "set", "lo", "up");
  await runIp("address", "add", `${address}/24`, "dev", "eth0");
  await runIp("link", "set", "eth0", "up");
  await runIp("route", "add", "default", "via", `${PREFIX}.1`);
  return {
    address,
    commandInside: (argv) => [...enterCommand, ...argv],
    managerArguments: (args) => args,
    release: holder.release,
  };
}

type Holder = { readonly pid: number; readonly release: () => void };

/** Starts a process that keeps a namespace alive. It runs until its standard input ends. */
function startHolder(): Promise<Holder> {
  const child = spawn("unshare", ["--net", "--", "sh", "-c", "echo ready; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) =>
      reject(new Fault("ERR_DEMO_FAILED", "cannot start the program unshare; use --network loopback", error)),
    );
    child.once("exit", () =>
      reject(new Fault("ERR_DEMO_FAILED", "cannot create a network namespace for a Pod; use --network loopback")),
    );
    child.stdout.once("data", () => resolve({ pid: child.pid ?? 0, release: () => child.stdin.end() }));
  });
}

function ip(...args: string[]): Promise<void> {
  return run(["ip", ...args]);
}

async function run(argv: readonly string[]): Promise<void> {
  const [program = "", ...args] = argv;
  try {
    await promisify(execFile)(program, args, { timeout: 10_000 });
  } catch (cause) {
    throw new Fault("ERR_DEMO_FAILED", `the command failed: ${argv.join(" ")}`, cause);
  }
}

type NamespaceSupport =
  | { readonly supported: true; readonly prefix: readonly string[] }
  | { readonly supported: false; readonly reason: string };

const COMMON_FLAGS = ["--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"];
const UNSHARE_COMMANDS: readonly (readonly string[])[] = [
  ["unshare", ...COMMON_FLAGS, "--"],
  ["unshare", "--user", "--map-root-user", ...COMMON_FLAGS, "--"],
];
const TRIAL_SCRIPT =
  "ip link set lo up && ip link add trial type bridge && ip link add v0 type veth peer name v1 && nsenter --net=/proc/self/ns/net -- true";

/** Creates namespaces on trial, because only a trial covers privileges, kernel settings and installed programs. */
export function detectNamespaces(): NamespaceSupport {
  const failures: string[] = [];
  for (const prefix of UNSHARE_COMMANDS) {
    const [program = "", ...args] = prefix;
    const trial = spawnSync(program, [...args, "sh", "-c", TRIAL_SCRIPT], { encoding: "utf8", timeout: 10_000 });
    if (trial.status === 0) return { supported: true, prefix };
    failures.push((trial.error?.message ?? trial.stderr).trim().split("\n")[0] ?? "");
  }
  return { supported: false, reason: failures.filter((failure) => failure !== "").join("; ") };
}

type InsideRun = {
  readonly prefix: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stop: AbortSignal;
};

const EXIT_LIMIT_MS = 5_000;

/**
 * Runs a command in private namespaces, where it is process 1: the kernel kills its children with it. The command must
 * exit when its standard input ends.
 *
 * @returns its exit status
 */
export async function runInside(run: InsideRun): Promise<number> {
  const [program = "", ...args] = [...run.prefix, ...run.command];
  // Detached, because in the same session the terminal's Ctrl-C would reach the command directly.
  const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"], detached: true, env: run.environment });
  let limit: NodeJS.Timeout | undefined;
  run.stop.addEventListener("abort", () => {
    child.stdin.end();
    limit = setTimeout(() => child.kill("SIGKILL"), EXIT_LIMIT_MS);
  });
  child.stdin.on("error", () => {});
  const [status]: (number | null)[] = await once(child, "exit").catch(() => [1]);
  clearTimeout(limit);
  child.stdin.destroy();
  return status ?? 1;
}
