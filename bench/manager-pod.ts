/** Starts a Pod of the manager benchmark: its own network, an app that never responds, and one of the builds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { PodAttachment } from "../src/demo/network/pod-network.ts";
import type { Build } from "./manager-builds.ts";

const TOKEN = "bench";
const PORT = 17_890;
const APP_PORT = 8_080;
const CONNECTIONS_PER_BATCH = 200;

export type Pod = {
  readonly pid: number;
  /** Opens connections with one unanswered request each. @returns a function that closes them */
  readonly openBusyConnections: (connections: number) => Promise<() => void>;
  /** Runs the manager's own preStop hook to the end of the drain. @returns the drain's outcome */
  readonly drain: (client: string) => Promise<string>;
  readonly call: (path: string) => Promise<string>;
  readonly end: () => Promise<void>;
};

export async function startPod(attachment: PodAttachment, build: Build, flags: readonly string[]): Promise<Pod> {
  const app = start(attachment, [process.execPath, join(import.meta.dirname, "manager-app.ts"), String(APP_PORT)]);
  await waitForOutput(app, "ready");
  const child = start(attachment, build.name === "pause" ? build.command : [...build.command, "serve", ...flags]);
  await waitForOutput(child, '"listening"');
  child.stdout?.resume();
  return {
    pid: child.pid ?? 0,
    openBusyConnections: (connections) => openBusyConnections(app, attachment.address, connections),
    drain: (client) => drain(attachment, client),
    call: (path) => callManager(attachment.address, path),
    end: async () => {
      await endProcess(child);
      await endProcess(app);
      attachment.release();
    },
  };
}

/** The network's command execs the program in the same process, so the child's PID is the program's. */
function start(attachment: PodAttachment, command: readonly string[]): ChildProcess {
  const [program = "", ...args] = attachment.commandInside(command);
  return spawn(program, args, {
    env: { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** @throws when the program ends before it prints the text */
export async function waitForOutput(child: ChildProcess, text: string): Promise<void> {
  const { stdout } = child;
  if (stdout === null) throw new Error("the program's stdout is not a pipe");
  let output = "";
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes(text)) return;
  }
  throw new Error(`${child.spawnargs.join(" ")} ended before it printed ${text}`);
}

async function openBusyConnections(app: ChildProcess, host: string, connections: number): Promise<() => void> {
  const sockets: Socket[] = [];
  const served = waitForOutput(app, `served ${connections}\n`);
  while (sockets.length < connections) {
    const batch = Array.from({ length: Math.min(CONNECTIONS_PER_BATCH, connections - sockets.length) }, () => {
      const socket = connect(APP_PORT, host);
      socket.on("error", () => {});
      sockets.push(socket);
      return once(socket, "connect").then(() => socket.write("GET / HTTP/1.1\r\n\r\n"));
    });
    await Promise.all(batch);
  }
  await served;
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

async function drain(attachment: PodAttachment, client: string): Promise<string> {
  const child = start(attachment, [client, "drain"]);
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += String(chunk);
  });
  await once(child, "close");
  const report: { readonly outcome?: string } = JSON.parse(text === "" ? "{}" : text);
  return report.outcome ?? "no report";
}

function callManager(host: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = get({ host, port: PORT, path: `/${TOKEN}/${path}`, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk) => {
        body += String(chunk);
      });
      res.on("end", () => resolve(body));
    });
    outgoing.on("error", reject);
  });
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
