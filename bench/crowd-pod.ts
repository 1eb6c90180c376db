/**
 * Starts a Pod with many real connections, half of them IPv6, from a client in another network namespace. Needs root, `ip`,
 * `nsenter` and a C compiler.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { endProcess, waitForOutput } from "./manager-pod.ts";

/** `mixed`: one third of the connections is unused, one third has received its answer, one third waits for it. */
export type CrowdKind = "idle" | "busy" | "mixed";

export type CrowdPod = {
  readonly inside: readonly string[];
  readonly open: (kind: CrowdKind, connections: number) => Promise<void>;
  readonly closeBusy: () => Promise<void>;
  readonly end: () => Promise<void>;
};

export const APP_PORTS = [8_080, 8_081, 8_082] as const;
const [SILENT, ANSWERED, BUSY] = APP_PORTS;

const POD = ["10.111.0.1", "fd00::1"] as const;
/** Each source address has 28 000 ephemeral ports towards each port of the Pod. */
const SOURCES = [2, 3, 4, 5].map((n) => [`10.111.0.${n}`, `fd00::${n}`] as const);

/** @returns the reason why this host cannot run it; empty if it can */
export function crowdRefusal(): string {
  for (const command of [
    ["unshare", "-n", "true"],
    ["ip", "-V"],
    ["nsenter", "-V"],
    ["cc", "--version"],
  ]) {
    const result = spawnSync(command[0] ?? "", command.slice(1), { encoding: "utf8" });
    if (result.status !== 0) return `${command.join(" ")}: ${result.error?.message ?? result.stderr.trim()}`;
  }
  return "";
}

export async function startCrowdPod(folder: string): Promise<CrowdPod> {
  const program = join(folder, "crowd");
  execFileSync("cc", ["-O1", "-o", program, join(import.meta.dirname, "crowd.c")]);
  const children: ChildProcess[] = [];
  const network = async (): Promise<{ readonly inside: readonly string[]; readonly pid: number }> => {
    const holder = spawn("unshare", ["-n", "sh", "-c", "echo ready; exec sleep infinity"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(holder);
    await waitForOutput(holder, "ready");
    return { inside: ["nsenter", "-t", String(holder.pid), "-n", "--"], pid: holder.pid ?? 0 };
  };
  const pod = await network();
  const client = await network();
  connectNetworks(pod, client);
  const start = (inside: readonly string[], mode: string): ChildProcess => {
    const [command = "", ...args] = [...inside, program, mode];
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    return child;
  };
  await waitForOutput(start(pod.inside, "serve"), "ready");
  const crowd = createCrowd(start(client.inside, "hold"));
  return {
    inside: pod.inside,
    open: async (kind, connections) => {
      const kinds = { idle: [SILENT], busy: [BUSY], mixed: [SILENT, ANSWERED, BUSY] }[kind];
      let left = connections;
      // closeBusy closes the connections that were opened last.
      for (const [index, port] of kinds.entries()) {
        const share = index === kinds.length - 1 ? left : Math.floor(connections / kinds.length);
        left -= share;
        await crowd.open(port, share);
      }
    },
    closeBusy: crowd.closeLast,
    end: async () => {
      await Promise.all(children.reverse().map(endProcess));
    },
  };
}

type Network = { readonly inside: readonly string[]; readonly pid: number };

function connectNetworks(pod: Network, client: Network): void {
  const ip = ({ inside }: Network, ...args: readonly string[]) => run([...inside, "ip", ...args]);
  ip(pod, "link", "set", "lo", "up");
  ip(pod, "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", String(client.pid));
  ip(pod, "addr", "add", `${POD[0]}/16`, "dev", "v0");
  ip(pod, "addr", "add", `${POD[1]}/64`, "dev", "v0", "nodad");
  for (const [four, six] of SOURCES) {
    ip(client, "addr", "add", `${four}/16`, "dev", "v1");
    ip(client, "addr", "add", `${six}/64`, "dev", "v1", "nodad");
  }
  ip(pod, "link", "set", "v0", "up");
  ip(client, "link", "set", "v1", "up");
}

function run(command: readonly string[]): void {
  execFileSync(command[0] ?? "", command.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
}

function createCrowd(child: ChildProcess) {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("crowd hold has no stdin or stdout");
  const lines: Interface = createInterface({ input: stdout });
  const send = async (line: string): Promise<void> => {
    const answer = once(lines, "line");
    const exited = once(child, "exit").then(() => {
      throw new Error(`crowd hold ended at: ${line}`);
    });
    stdin.write(`${line}\n`);
    await Promise.race([answer, exited]);
    exited.catch(() => undefined);
  };
  return {
    open: async (port: number, connections: number): Promise<void> => {
      const half = Math.floor(connections / 2);
      const servers = `open ${POD[0]} ${POD[1]} ${port} ${half} ${connections - half}`;
      await send(`${servers} ${SOURCES.flat().join(" ")}`);
    },
    closeLast: (): Promise<void> => send("close"),
  };
}
