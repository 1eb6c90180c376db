/**
 * `node attack-scenario.ts JSON`: starts a manager, an app and attacking clients in separate networks, calls the manager
 * and drains the Pod, and prints the result as JSON.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { type AttackResult, type AttackScenario, CLIENTS_NETWORK, POD_SET_UP } from "./run-attack.ts";

const scenario: AttackScenario = JSON.parse(process.argv[2] ?? "{}");
const TOKEN = "t0ken-of-this-test";
const PORT = 17_890;
const POD_ADDRESS = "10.9.0.1";
const KUBELET_ADDRESS = "10.9.0.250";
const FLAGS = ["--drain-delay=1s", "--quiet-period=500ms", "--hooks=app:app,web:app"];
const CALL_COUNT = 30;
const CALL_INTERVAL_MS = 20;
const LIMIT_MS = 20_000;
const WARM_UP_MS = 1_500;
const SAMPLE_MS = 50;

const counts = { sent: 0, answered: 0, reset: 0, silent: 0, slowestMs: 0 };

/** Sends the request immediately after the handshake, like the kubelet. */
function call(path: string): Promise<void> {
  counts.sent += 1;
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ host: POD_ADDRESS, port: PORT, localAddress: KUBELET_ADDRESS });
    let response = "";
    let end: "answered" | "reset" | "silent" = "reset";
    const timer = setTimeout(() => {
      end = "silent";
      socket.destroy();
    }, LIMIT_MS);
    socket.on("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
    socket.on("data", (chunk: Buffer) => {
      response += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      if (/^HTTP\/1\.1 200 .*\}$/s.test(response)) end = "answered";
      counts[end] += 1;
      counts.slowestMs = Math.max(counts.slowestMs, Math.round(performance.now() - startedMs));
      resolve();
    });
  });
}

async function callRepeatedly(path: string): Promise<void> {
  for (let count = 0; count < CALL_COUNT; count += 1) {
    await call(path);
    await pause(CALL_INTERVAL_MS, "an interval between two calls");
  }
}

function residentKib(pid: number): number {
  return Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0");
}

// The clients have a separate namespace, so the manager's samples exclude their sockets.
const [first = "", ...others] = CLIENTS_NETWORK;
const clientsArguments = [
  scenario.attack,
  POD_ADDRESS,
  String(PORT),
  String(scenario.amount),
  String(scenario.addresses),
];
const clientsProgram = [process.execPath, new URL("attack-clients.ts", import.meta.url).pathname, ...clientsArguments];
const clients = spawn(first, [...others, ...clientsProgram], { stdio: ["pipe", "pipe", "inherit"] });
let clientsOutput = "";
clients.stdout.on("data", (chunk: Buffer) => {
  clientsOutput += chunk.toString("utf8");
});
await eventually(() => {
  if (!isInOtherNetwork(clients.pid ?? 0)) throw new Error("the clients have no network namespace yet");
});
execFileSync("sh", ["-c", POD_SET_UP(clients.pid ?? 0)]);

/** Whether the process is in another network namespace. */
function isInOtherNetwork(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync("/proc/self/ns/net");
}

const env = { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN };
const [command = "", ...args] = scenario.manager;
// With the capabilities to configure the network, the manager could set socket options that a restricted Pod cannot set.
const WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"] as const;
const [unprivileged, ...without] = WITHOUT_CAPABILITIES;
const manager = spawn(unprivileged, [...without, ...scenario.wrapper, command, ...args, "serve", ...FLAGS], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
const lines = createInterface({ input: manager.stdout });
await new Promise<void>((resolve) => lines.on("line", (line) => void (line.includes('"listening"') && resolve())));
const pid = manager.pid ?? 0;
const app = createServer((_, res) => void res.end("done"));
app.listen(8_080, POD_ADDRESS);
await once(app, "listening");
await callRepeatedly(`/${TOKEN}/status`);
const kibBefore = residentKib(pid);
Object.assign(counts, { sent: 0, answered: 0, reset: 0, silent: 0, slowestMs: 0 });

const isAttacked = scenario.attack !== "none";
clients.stdin.write(isAttacked ? "go\n" : "");
if (isAttacked) await once(clients.stdout, "data");
const attackStartedMs = performance.now();
let peakKib = residentKib(pid);
const sampler = setInterval(() => {
  peakKib = Math.max(peakKib, residentKib(pid));
}, SAMPLE_MS);
await pause(WARM_UP_MS, "the attack grows to its full size");

await callRepeatedly(`/${TOKEN}/status`);
// Like the kubelet, calls all hooks at the same time, including the manager's own hook.
const [own = "", ...ownArgs] = [...scenario.wrapper, command, ...args, "drain"];
counts.sent += 1;
const drainCommand = spawn(own, ownArgs, { env, stdio: ["ignore", "pipe", "pipe"] });
let report = "";
drainCommand.stdout.on("data", (chunk: Buffer) => {
  report += chunk.toString("utf8");
});
const drainClosed = once(drainCommand, "close");
const hookCalls = [call(`/${TOKEN}/prestop/app`), call(`/${TOKEN}/prestop/web`)];
const [code] = await drainClosed;
if (code === 0) counts.answered += 1;
else counts.silent += 1;
await Promise.all(hookCalls);
await callRepeatedly(`/${TOKEN}/prestop/app`);

clearInterval(sampler);
const attackMs = performance.now() - attackStartedMs;
const clientsClosed = once(clients, "close");
clients.stdin.end();
await clientsClosed;
const { opened = 0, closedByManager = 0 } = JSON.parse(clientsOutput.split("\n")[1] || "{}");
const { outcome = `status ${code}`, milliseconds: took = {} } = JSON.parse(report || "{}");
const result: AttackResult = {
  ...counts,
  outcome,
  drainMs: (took.withdrawing ?? 0) + (took.draining ?? 0) + (took.holding ?? 0),
  kibBefore: kibBefore,
  peakKib: peakKib,
  connectionsPerSecond: Math.round((opened * 1_000) / attackMs),
  closedByManager,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
manager.kill("SIGKILL");
process.exit(0);
