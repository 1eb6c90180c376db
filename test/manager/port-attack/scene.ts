/**
 * One Pod's end in a network of its own, with or without strangers: `node scene.ts JSON` starts a manager, an app and the
 * strangers, asks for reports, drains, and asks hooks, and prints as JSON what became of it.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { AMONG_STRANGERS, POD_SET_UP, type Scene, type Seen } from "./run-scene.ts";

const scene: Scene = JSON.parse(process.argv[2] ?? "{}");
const TOKEN = "t0ken-of-this-test";
const PORT = 17_890;
const POD = "10.9.0.1";
const KUBELET = "10.9.0.250";
const FLAGS = ["--drain-delay=1s", "--quiet-period=500ms", "--hooks=app:app,web:app"];
const CALLS = 30;
const BETWEEN_CALLS_MS = 20;
const LIMIT_MS = 20_000;
const WARM_UP_MS = 1_500;
const SAMPLE_MS = 50;

const seen = { asked: 0, answered: 0, reset: 0, silent: 0, slowestMs: 0 };

/** A hook as the kubelet calls it: the request goes out with the end of the handshake. */
function call(path: string): Promise<void> {
  seen.asked += 1;
  const begunMs = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ host: POD, port: PORT, localAddress: KUBELET });
    let text = "";
    let end: "answered" | "reset" | "silent" = "reset";
    const timer = setTimeout(() => {
      end = "silent";
      socket.destroy();
    }, LIMIT_MS);
    socket.on("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      if (/^HTTP\/1\.1 200 .*\}$/s.test(text)) end = "answered";
      seen[end] += 1;
      seen.slowestMs = Math.max(seen.slowestMs, Math.round(performance.now() - begunMs));
      resolve();
    });
  });
}

async function calls(path: string): Promise<void> {
  for (let count = 0; count < CALLS; count += 1) {
    await call(path);
    await pause(BETWEEN_CALLS_MS, "calls that are a little apart");
  }
}

function residentKb(pid: number): number {
  return Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0");
}

// Where the strangers live: the kernel's work for their own ends is none of the Pod's, and no look shows it.
const [first = "", ...others] = AMONG_STRANGERS;
const strangersWords = [scene.strangers, POD, String(PORT), String(scene.amount), String(scene.addresses)];
const strangersProgram = [process.execPath, new URL("strangers.ts", import.meta.url).pathname, ...strangersWords];
const strangers = spawn(first, [...others, ...strangersProgram], { stdio: ["pipe", "pipe", "inherit"] });
let strangersSaid = "";
strangers.stdout.on("data", (chunk: Buffer) => {
  strangersSaid += chunk.toString("utf8");
});
await eventually(() => {
  if (!isApart(strangers.pid ?? 0)) throw new Error("the strangers have no network of their own");
});
execFileSync("sh", ["-c", POD_SET_UP(strangers.pid ?? 0)]);

/** It has a network of its own by now. */
function isApart(other: number): boolean {
  return readlinkSync(`/proc/${other}/ns/net`) !== readlinkSync("/proc/self/ns/net");
}

const env = { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN };
const [command = "", ...words] = scene.manager;
// As in a restricted Pod: a program that may configure the network may do more with a socket than the manager may.
const WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"] as const;
const [unprivileged, ...without] = WITHOUT_RIGHTS;
const manager = spawn(unprivileged, [...without, ...scene.wrapper, command, ...words, "serve", ...FLAGS], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
const lines = createInterface({ input: manager.stdout });
await new Promise<void>((resolve) => lines.on("line", (line) => void (line.includes('"listening"') && resolve())));
const pid = manager.pid ?? 0;
const app = createServer((_, res) => void res.end("done"));
app.listen(8_080, POD);
await once(app, "listening");
await calls(`/${TOKEN}/status`);
const beforeKb = residentKb(pid);
Object.assign(seen, { asked: 0, answered: 0, reset: 0, silent: 0, slowestMs: 0 });

const isAttacked = scene.strangers !== "none";
strangers.stdin.write(isAttacked ? "go\n" : "");
if (isAttacked) await once(strangers.stdout, "data");
const attackedMs = performance.now();
let mostKb = residentKb(pid);
const sampler = setInterval(() => {
  mostKb = Math.max(mostKb, residentKb(pid));
}, SAMPLE_MS);
await pause(WARM_UP_MS, "the attack grows to its full size");

await calls(`/${TOKEN}/status`);
// As the kubelet does it: all hooks at once, the manager's own among them, which runs where the manager runs.
const [own = "", ...ownWords] = [...scene.wrapper, command, ...words, "drain"];
seen.asked += 1;
const drain = spawn(own, ownWords, { env, stdio: ["ignore", "pipe", "pipe"] });
let report = "";
drain.stdout.on("data", (chunk: Buffer) => {
  report += chunk.toString("utf8");
});
const drained = once(drain, "close");
const hooks = [call(`/${TOKEN}/prestop/app`), call(`/${TOKEN}/prestop/web`)];
const [code] = await drained;
if (code === 0) seen.answered += 1;
else seen.silent += 1;
await Promise.all(hooks);
await calls(`/${TOKEN}/prestop/app`);

clearInterval(sampler);
const lastedMs = performance.now() - attackedMs;
const gone = once(strangers, "close");
strangers.stdin.end();
await gone;
const { opened = 0, closedByManager = 0 } = JSON.parse(strangersSaid.split("\n")[1] || "{}");
const { outcome = `status ${code}`, milliseconds: took = {} } = JSON.parse(report || "{}");
const result: Seen = {
  ...seen,
  outcome,
  drainMs: (took.withdrawing ?? 0) + (took.draining ?? 0) + (took.holding ?? 0),
  beforeKb,
  mostKb,
  perSecond: Math.round((opened * 1_000) / lastedMs),
  closedByManager,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
manager.kill("SIGKILL");
process.exit(0);
