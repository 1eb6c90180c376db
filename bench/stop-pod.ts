/**
 * Runs a Pod of `bench/stops.ts` in its own network namespace: a manager, and an app in another process. Commands on stdin:
 * `stop` drains and stops the app, `end` stops the manager and prints its last report, with the resets.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";

const MANAGER_PORT = 17_890;
const TOKEN = "t0ken-of-this-bench";
/** The timeout ends the drain while clients still send on open connections, as with the outcome `handed-over`. */
const FLAGS = ["--drain-delay=0s", "--quiet-period=100ms", "--drain-timeout=300ms"];

/** Responds after 0 to 3 ms, so that requests are in progress at any time. Exits at SIGTERM without completing these requests. */
const APP = `
const respond = (res) => res.end("ok");
let count = 0;
require("node:http").createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  count += 1;
  if (count % 4 === 0) respond(res); else setTimeout(respond, count % 4, res);
}).listen(8080, "0.0.0.0", () => console.log("listening"));
process.on("SIGTERM", () => process.exit(0));`;

const [command = "", ...managerArguments] = process.argv.slice(2);

const app = spawn(process.execPath, ["-e", APP], { stdio: ["ignore", "pipe", "inherit"] });
await once(app.stdout, "data");
const manager = spawn(command, [...managerArguments, "serve", ...FLAGS], {
  env: { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN },
  stdio: ["ignore", "pipe", "inherit"],
});
const logEntries: Record<string, unknown>[] = [];
createInterface({ input: manager.stdout }).on("line", (line) => {
  logEntries.push(JSON.parse(line));
  if (logEntries.at(-1)?.["message"] === "listening") process.stdout.write("ready\n");
});

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "stop") {
    await drain();
    await endProcess(app);
    process.stdout.write("stopped\n");
  }
  if (line === "end") {
    await endProcess(manager);
    const reports = logEntries.filter(({ message }) => message === "drain report");
    process.stdout.write(`${JSON.stringify(reports.at(-1)?.["report"] ?? {})}\n`);
    break;
  }
}

async function drain(): Promise<void> {
  const outgoing = request({ host: "127.0.0.1", port: MANAGER_PORT, path: `/${TOKEN}/drain`, method: "POST" });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  await once(response.resume(), "end");
}

async function endProcess(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
