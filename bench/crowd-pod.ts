/**
 * Starts a Pod with many real connections, half of them IPv6, from a client in another network namespace. Needs root, `ip`,
 * `nsenter` and a C compiler.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { endProcess, waitForOutput } from "./manager-pod.ts";

/** `mixed`: one third of the connections does not send a request, one third has a response, one third waits for a response. */
export type CrowdKind = "idle" | "busy" | "mixed";

export type CrowdPod = {
  readonly enterCommand: readonly string[];
  readonly open: (kind: CrowdKind, connections: number) => Promise<void>;
  readonly closeBusy: () => Promise<void>;
  readonly end: () => Promise<void>;
};

export const APP_PORTS = [8_080, 8_081, 8_082] as const;
const [SILENT_PORT, RESPONDING_PORT, BUSY_PORT] = APP_PORTS;

const POD_ADDRESSES = ["10.111.0.1", "fd00::1"] as const;
/** Each source address has 28 000 ephemeral ports towards each port of the Pod. */
const SOURCE_ADDRESSES = [2, 3, 4, 5].map((n) => [`10.111.0.${n}`, `fd00::${n}`] as const);

/** @returns a requirement that this host does not meet, with the error of its check; empty if the host meets all */
export function crowdSkipReason(): string {
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
  const createNetwork = async (): Promise<{ readonly enterCommand: readonly string[]; readonly pid: number }> => {
    const namespaceProcess = spawn("unshare", ["-n", "sh", "-c", "echo ready; exec sleep infinity"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(namespaceProcess);
    await waitForOutput(namespaceProcess, "ready");
    return {
      enterCommand: ["nsenter", "-t", String(namespaceProcess.pid), "-n", "--"],
      pid: namespaceProcess.pid ?? 0,
    };
  };
  const pod = await createNetwork();
  const client = await createNetwork();
  connectNetworks(pod, client);
  const startProgram = (enterCommand: readonly string[], mode: string): ChildProcess => {
    const [command = "", ...args] = [...enterCommand, program, mode];
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    return child;
  };
  await waitForOutput(startProgram(pod.enterCommand, "serve"), "ready");
  const connectionClient = createConnectionClient(startProgram(client.enterCommand, "hold"));
  return {
    enterCommand: pod.enterCommand,
    open: async (kind, connections) => {
      const ports = { idle: [SILENT_PORT], busy: [BUSY_PORT], mixed: [SILENT_PORT, RESPONDING_PORT, BUSY_PORT] }[kind];
      let remaining = connections;
      // The busy port is last, because closeBusy closes the connections that were opened last.
      for (const [index, port] of ports.entries()) {
        const share = index === ports.length - 1 ? remaining : Math.floor(connections / ports.length);
        remaining -= share;
        await connectionClient.open(port, share);
      }
    },
    closeBusy: connectionClient.closeLast,
    end: async () => {
      await Promise.all(children.reverse().map(endProcess));
    },
  };
}

type Network = { readonly enterCommand: readonly string[]; readonly pid: number };

function connectNetworks(pod: Network, client: Network): void {
  const runIp = ({ enterCommand: inside }: Network, ...args: readonly string[]) => run([...inside, "ip", ...args]);
  runIp(pod, "link", "set", "lo", "up");
  runIp(pod, "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", String(client.pid));
  runIp(pod, "addr", "add", `${POD_ADDRESSES[0]}/16`, "dev", "v0");
  runIp(pod, "addr", "add", `${POD_ADDRESSES[1]}/64`, "dev", "v0", "nodad");
  for (const [four, six] of SOURCE_ADDRESSES) {
    runIp(client, "addr", "add", `${four}/16`, "dev", "v1");
    runIp(client, "addr", "add", `${six}/64`, "dev", "v1", "nodad");
  }
  runIp(pod, "link", "set", "v0", "up");
  runIp(client, "link", "set", "v1", "up");
}

function run(command: readonly string[]): void {
  execFileSync(command[0] ?? "", command.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
}

function createConnectionClient(child: ChildProcess) {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("crowd hold has no stdin or stdout");
  const lines: Interface = createInterface({ input: stdout });
  const send = async (line: string): Promise<void> => {
    const reply = once(lines, "line");
    const exit = once(child, "exit").then(() => {
      throw new Error(`crowd hold ended at: ${line}`);
    });
    stdin.write(`${line}\n`);
    await Promise.race([reply, exit]);
    exit.catch(() => undefined);
  };
  return {
    open: async (port: number, connections: number): Promise<void> => {
      const half = Math.floor(connections / 2);
      const command = `open ${POD_ADDRESSES[0]} ${POD_ADDRESSES[1]} ${port} ${half} ${connections - half}`;
      await send(`${command} ${SOURCE_ADDRESSES.flat().join(" ")}`);
    },
    closeLast: (): Promise<void> => send("close"),
  };
}
