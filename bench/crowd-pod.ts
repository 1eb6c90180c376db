/**
 * A Pod with a crowd of real connections from outside: two network namespaces that end with their processes, a server in
 * one and a client in the other. Needs root, `ip`, `nsenter` and a C compiler.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { endProcess, said } from "./manager-pod.ts";

/** `mixed`: a third each of connections that never carried a byte, that have their answer, and that wait for one. */
export type CrowdKind = "idle" | "busy" | "mixed";

export type CrowdPod = {
  /** Put before a command, runs it in the Pod's network. */
  readonly inside: readonly string[];
  /** Opens so many, half of them IPv4 and half IPv6. */
  readonly open: (kind: CrowdKind, connections: number) => Promise<void>;
  /** The clients that wait for an answer give up. */
  readonly closeBusy: () => Promise<void>;
  readonly end: () => Promise<void>;
};

export const APP_PORTS = [8_080, 8_081, 8_082] as const;
const [SILENT, ANSWERED, BUSY] = APP_PORTS;

const POD = ["10.111.0.1", "fd00::1"] as const;
/** Each source has 28 000 ports towards each port of the Pod. */
const SOURCES = [2, 3, 4, 5].map((n) => [`10.111.0.${n}`, `fd00::${n}`] as const);

/** @returns why it cannot be had here; empty where it can */
export function crowdRefusal(): string {
  for (const words of [
    ["unshare", "-n", "true"],
    ["ip", "-V"],
    ["nsenter", "-V"],
    ["cc", "--version"],
  ]) {
    const tried = spawnSync(words[0] ?? "", words.slice(1), { encoding: "utf8" });
    if (tried.status !== 0) return `${words.join(" ")}: ${tried.error?.message ?? tried.stderr.trim()}`;
  }
  return "";
}

/** @param folder for the compiled program */
export async function startCrowdPod(folder: string): Promise<CrowdPod> {
  const program = join(folder, "crowd");
  execFileSync("cc", ["-O1", "-o", program, join(import.meta.dirname, "crowd.c")]);
  const children: ChildProcess[] = [];
  const network = async (): Promise<{ readonly inside: readonly string[]; readonly pid: number }> => {
    const holder = spawn("unshare", ["-n", "sh", "-c", "echo there; exec sleep infinity"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(holder);
    await said(holder, "there");
    return { inside: ["nsenter", "-t", String(holder.pid), "-n", "--"], pid: holder.pid ?? 0 };
  };
  const pod = await network();
  const client = await network();
  connectNetworks(pod, client);
  const start = (inside: readonly string[], word: string): ChildProcess => {
    const [command = "", ...args] = [...inside, program, word];
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    return child;
  };
  await said(start(pod.inside, "serve"), "ready");
  const crowd = createCrowd(start(client.inside, "hold"));
  return {
    inside: pod.inside,
    open: async (kind, connections) => {
      const kinds = { idle: [SILENT], busy: [BUSY], mixed: [SILENT, ANSWERED, BUSY] }[kind];
      let left = connections;
      // The busy ones last: they are the ones to be closed.
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
  const ip = ({ inside }: Network, ...words: readonly string[]) => run([...inside, "ip", ...words]);
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

function run(words: readonly string[]): void {
  execFileSync(words[0] ?? "", words.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
}

function createCrowd(child: ChildProcess) {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("the crowd has no pipes");
  const lines: Interface = createInterface({ input: stdout });
  const ask = async (line: string): Promise<void> => {
    const answer = once(lines, "line");
    const gone = once(child, "exit").then(() => {
      throw new Error(`the crowd ended at: ${line}`);
    });
    stdin.write(`${line}\n`);
    await Promise.race([answer, gone]);
    gone.catch(() => undefined);
  };
  return {
    open: async (port: number, connections: number): Promise<void> => {
      const half = Math.floor(connections / 2);
      const order = `open ${POD[0]} ${POD[1]} ${port} ${half} ${connections - half}`;
      await ask(`${order} ${SOURCES.flat().join(" ")}`);
    },
    closeLast: (): Promise<void> => ask("close"),
  };
}
