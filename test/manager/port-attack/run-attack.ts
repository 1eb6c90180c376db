/** Runs attack scenarios in network namespaces, and in a CPU cgroup where supported. */
import { spawn, spawnSync } from "node:child_process";

export type Attack = "none" | "silent" | "churn";

export type AttackScenario = {
  /** The manager's program and the arguments before its command. */
  readonly manager: readonly string[];
  readonly attack: Attack;
  /** Open connections with `silent`, connections a second with `churn`. */
  readonly amount: number;
  readonly addresses: number;
  /** Command prefix that enters the CPU cgroup; empty without one. */
  readonly wrapper: readonly string[];
};

export type AttackResult = {
  readonly sent: number;
  readonly answered: number;
  readonly reset: number;
  /** Calls without a response within 20 s. */
  readonly silent: number;
  readonly slowestMs: number;
  readonly outcome: string;
  readonly drainMs: number;
  readonly kibBefore: number;
  readonly peakKib: number;
  /** Connections that the attack opened, per second. */
  readonly connectionsPerSecond: number;
  readonly closedByManager: number;
};

export const NO_ATTACK = { attack: "none", amount: 0, addresses: 1, wrapper: [] } as const;

const NETWORK_NAMESPACE = ["--net", "--map-root-user", "sh", "-c"];
/** Adds the address from which the simulated kubelet calls the manager. */
const SET_UP = 'ip link set lo up && ip addr add 10.9.0.250/32 dev lo && exec "$0" "$@"';
/** A local route makes all addresses of a range local, without a command for each. */
const CLIENTS_SET_UP =
  'read go && ip link set lo up && ip link set out up && ip addr add 10.9.1.1/16 dev out && ip route add local 10.9.1.0/24 dev lo && exec "$0" "$@"';
export const POD_SET_UP = (pid: number): string =>
  `ip link add pod type veth peer name out netns ${pid} && ip addr add 10.9.0.1/16 dev pod && ip link set pod up`;
export const CLIENTS_NETWORK: readonly string[] = ["unshare", "--net", "sh", "-c", CLIENTS_SET_UP];
const SCENARIO_PROGRAM = new URL("attack-scenario.ts", import.meta.url).pathname;

/** @returns the reason for skipping the test; empty if this host can create the network namespaces */
export function namespacesFailure(): string {
  const unshareResult = spawnSync("unshare", [...NETWORK_NAMESPACE, `${SET_UP}`, "unshare", "--net", "true"], {
    encoding: "utf8",
  });
  return unshareResult.status === 0 ? "" : unshareResult.stderr.trim() || String(unshareResult.error?.message);
}

export function runAttack(scenario: AttackScenario): Promise<AttackResult> {
  const child = spawn(
    "unshare",
    [...NETWORK_NAMESPACE, SET_UP, process.execPath, SCENARIO_PROGRAM, JSON.stringify(scenario)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(`the attack scenario ended with ${code}: ${out}`));
    });
  });
}

export function attackText(title: string, result: AttackResult): string {
  const { sent, answered, reset, silent, outcome, drainMs, kibBefore, peakKib, connectionsPerSecond, slowestMs } =
    result;
  const calls = `${answered} of ${sent} answered, ${reset} reset, ${silent} silent, slowest ${slowestMs} ms`;
  return `${title}: ${calls}; drain ${outcome} in ${drainMs} ms; ${kibBefore} -> ${peakKib} KiB; ${connectionsPerSecond} connections/s`;
}
