/** Runs scenes in network namespaces of their own, and in a CPU cgroup where one can be had. */
import { spawn, spawnSync } from "node:child_process";

export type Strangers = "none" | "silent" | "churn";

export type Scene = {
  /** The manager's program and what stands before its own words. */
  readonly manager: readonly string[];
  readonly strangers: Strangers;
  /** Connections at once, or a second. */
  readonly amount: number;
  /** From how many addresses they come. */
  readonly addresses: number;
  /** Words before the manager's program that take it into its CPU cgroup; none without one. */
  readonly wrapper: readonly string[];
};

export type Seen = {
  readonly asked: number;
  readonly answered: number;
  readonly reset: number;
  /** Not answered in 20 s, or given up. */
  readonly silent: number;
  readonly slowestMs: number;
  readonly outcome: string;
  /** By the manager's own report. */
  readonly drainMs: number;
  readonly beforeKb: number;
  readonly mostKb: number;
  /** What the strangers opened. */
  readonly perSecond: number;
  readonly closedByManager: number;
};

export const QUIET = { strangers: "none", amount: 0, addresses: 1, wrapper: [] } as const;

const ALONE = ["--net", "--map-root-user", "sh", "-c"];
/** The Pod's address, and the one that its kubelet calls from. */
const SET_UP = 'ip link set lo up && ip addr add 10.9.0.250/32 dev lo && exec "$0" "$@"';
/** The strangers' side: all of their addresses are their own, without one command for each. */
const STRANGERS_SET_UP =
  'read go && ip link set lo up && ip link set out up && ip addr add 10.9.1.1/16 dev out && ip route add local 10.9.1.0/24 dev lo && exec "$0" "$@"';
export const POD_SET_UP = (pid: number): string =>
  `ip link add pod type veth peer name out netns ${pid} && ip addr add 10.9.0.1/16 dev pod && ip link set pod up`;
export const AMONG_STRANGERS: readonly string[] = ["unshare", "--net", "sh", "-c", STRANGERS_SET_UP];
const SCENE = new URL("scene.ts", import.meta.url).pathname;

/** Why this host makes no such network; empty when it does. */
export function networkRefusal(): string {
  const tried = spawnSync("unshare", [...ALONE, `${SET_UP}`, "unshare", "--net", "true"], { encoding: "utf8" });
  return tried.status === 0 ? "" : tried.stderr.trim() || String(tried.error?.message);
}

export function runScene(scene: Scene): Promise<Seen> {
  const child = spawn("unshare", [...ALONE, SET_UP, process.execPath, SCENE, JSON.stringify(scene)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(`the scene ended with ${code}: ${out}`));
    });
  });
}

/** One line for people. */
export function sceneText(title: string, seen: Seen): string {
  const { asked, answered, reset, silent, outcome, drainMs, beforeKb, mostKb, perSecond, slowestMs } = seen;
  const calls = `${answered} of ${asked} answered, ${reset} reset, ${silent} silent, slowest ${slowestMs} ms`;
  return `${title}: ${calls}; drain ${outcome} in ${drainMs} ms; ${beforeKb} -> ${mostKb} KB; strangers ${perSecond}/s`;
}
