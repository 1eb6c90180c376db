/**
 * Every Pod gets a network namespace of its own, joined by a bridge. Runs only inside the private namespaces that
 * `inPrivateNamespaces` makes, so nothing here needs taking down: it ends with the last process.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { Fault } from "../../fault.ts";
import type { PodAttachment, PodNetwork } from "./pod-network.ts";

const BRIDGE = "lastcall0";
const PREFIX = "10.66.0";
const FIRST_POD = 10;
const LAST_POD = 250;

/**
 * Without an address of its own a bridge takes the lowest of its ports, and so another whenever a Pod comes or goes. Pods
 * that remember the old one cannot answer until they ask again, seconds later.
 */
const BRIDGE_MAC = "02:00:0a:42:00:01";

/** @throws Fault ERR_DEMO_FAILED when `ip` or `nsenter` is missing or refuses. */
export async function createNamespaceNetwork(): Promise<PodNetwork> {
  await ip("link", "set", "lo", "up");
  await ip("link", "add", BRIDGE, "address", BRIDGE_MAC, "type", "bridge", "forward_delay", "0");
  for (const host of [1, 2, 3, 4]) await ip("address", "add", `${PREFIX}.${host}/24`, "dev", BRIDGE);
  await ip("link", "set", BRIDGE, "up");
  let next = FIRST_POD;
  return {
    kind: "namespace",
    kubeletAddress: `${PREFIX}.1`,
    trafficAddress: `${PREFIX}.2`,
    serviceAddress: `${PREFIX}.3`,
    webhookAddress: `${PREFIX}.4`,
    attach: () => attach(next++),
  };
}

async function attach(host: number): Promise<PodAttachment> {
  if (host > LAST_POD) throw new Fault("ERR_DEMO_FAILED", "no address is left for a Pod");
  const address = `${PREFIX}.${host}`;
  const holder = await holdNamespace();
  const enter = ["nsenter", `--net=/proc/${holder.pid}/ns/net`, "--"];
  await ip("link", "add", `pod${host}`, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid));
  await ip("link", "set", `pod${host}`, "master", BRIDGE, "up");
  const inside = (...words: string[]) => run([...enter, "ip", ...words]);
  await inside("link", "set", "lo", "up");
  await inside("address", "add", `${address}/24`, "dev", "eth0");
  await inside("link", "set", "eth0", "up");
  await inside("route", "add", "default", "via", `${PREFIX}.1`);
  return {
    address,
    inside: (argv) => [...enter, ...argv],
    managerArguments: (args) => args,
    release: holder.release,
  };
}

type Holder = { readonly pid: number; readonly release: () => void };

/** A namespace lives as long as a process in it: this one waits for the end of its input. */
function holdNamespace(): Promise<Holder> {
  const child = spawn("unshare", ["--net", "--", "sh", "-c", "echo ready; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Fault("ERR_DEMO_FAILED", "unshare did not start", error)));
    child.once("exit", () => reject(new Fault("ERR_DEMO_FAILED", "a Pod's network namespace could not be made")));
    child.stdout.once("data", () => resolve({ pid: child.pid ?? 0, release: () => child.stdin.end() }));
  });
}

function ip(...words: string[]): Promise<void> {
  return run(["ip", ...words]);
}

async function run(argv: readonly string[]): Promise<void> {
  const [program = "", ...args] = argv;
  try {
    await promisify(execFile)(program, args, { timeout: 10_000 });
  } catch (cause) {
    throw new Fault("ERR_DEMO_FAILED", argv.join(" "), cause);
  }
}

/**
 * Runs the demo again inside namespaces of its own, where it is process 1 and root of an empty network: whatever it
 * starts there ends with it, however it ends.
 */
type NamespaceOffer =
  | { readonly possible: true; readonly prefix: readonly string[] }
  | { readonly possible: false; readonly why: string };

const COMMON = ["--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"];
const WAYS: readonly (readonly string[])[] = [
  ["unshare", ...COMMON, "--"],
  ["unshare", "--user", "--map-root-user", ...COMMON, "--"],
];
/** Everything the Pods' network is made of, tried once. */
const TRIAL =
  "ip link set lo up && ip link add trial type bridge && ip link add v0 type veth peer name v1 && nsenter --net=/proc/self/ns/net -- true";

/** Asks the machine by trying: rights, kernel settings and missing programs all show in the same way. */
export function offerNamespaces(): NamespaceOffer {
  const complaints: string[] = [];
  for (const way of WAYS) {
    const [program = "", ...args] = way;
    const trial = spawnSync(program, [...args, "sh", "-c", TRIAL], { encoding: "utf8", timeout: 10_000 });
    if (trial.status === 0) return { possible: true, prefix: way };
    complaints.push((trial.error?.message ?? trial.stderr).trim().split("\n")[0] ?? "");
  }
  return { possible: false, why: complaints.filter((complaint) => complaint !== "").join("; ") };
}

type InsideRun = {
  readonly prefix: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C or SIGTERM: the inner demo cleans up and leaves. */
  readonly stop: AbortSignal;
};

/** How long the inner demo may take to leave once told. */
const LEAVE_LIMIT_MS = 5_000;

/** Resolves with the exit status of the inner demo. Its standard input is a leash: it leaves when that ends. */
export function runInside(run: InsideRun): Promise<number> {
  const [program = "", ...args] = [...run.prefix, ...run.command];
  // A session of its own: the terminal's Ctrl-C reaches the outer demo only.
  const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"], detached: true, env: run.environment });
  let limit: NodeJS.Timeout | undefined;
  run.stop.addEventListener("abort", () => {
    child.stdin.end();
    limit = setTimeout(() => child.kill("SIGKILL"), LEAVE_LIMIT_MS);
  });
  return new Promise((resolve) => {
    const over = (status: number) => {
      clearTimeout(limit);
      child.stdin.destroy();
      resolve(status);
    };
    child.stdin.on("error", () => {});
    child.once("error", () => over(1));
    child.once("exit", (status) => over(status ?? 1));
  });
}
