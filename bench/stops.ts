/**
 * `npm run bench:stops [-- --ends=NUMBER]`: stops Pods under load and compares the resets that each manager reports with the
 * failed requests that its clients count. Pod and clients have a network namespace each. Uses the native build.
 *
 * Exits with 1 if a manager reports fewer resets than its Pod's clients count failures, or, at about 200 requests a second,
 * more resets.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { canIsolate, joinNetworks, POD_ADDRESS } from "../test/manager/own-network.ts";

const APP_PORT = "8080";

type Load = { readonly title: string; readonly clients: number; readonly pauseMs: number; readonly isExact: boolean };

const LOADS: readonly Load[] = [
  { title: "about 200 requests a second", clients: 8, pauseMs: 36, isExact: true },
  { title: "as many as possible", clients: 40, pauseMs: 0, isExact: false },
];

type PodEnd = {
  readonly requests: number;
  readonly failedRequests: number;
  readonly reportedResets: number | undefined;
};

const binary = new URL("../build/native/lastcall", import.meta.url).pathname;
const podCount = Number(process.argv.find((arg) => arg.startsWith("--ends="))?.slice("--ends=".length) ?? "100");
if (!Number.isInteger(podCount) || podCount < 1) {
  process.stderr.write("bench:stops: --ends is not a whole number from 1; set it to the number of Pods to stop\n");
  process.exit(2);
}
if (!canIsolate) process.exit(1);
const unreadOutput = new WeakMap<ChildProcess, string>();
let hasFailed = false;
for (const load of LOADS) {
  const results: PodEnd[] = [];
  for (let count = 0; count < podCount; count += 1) results.push(await stopPod(load));
  process.stdout.write(`${formatSummary(load, results)}\n`);
  hasFailed ||= results.some((end) => isMiscounted(load, end));
}
process.exit(hasFailed ? 1 : 0);

async function stopPod({ clients, pauseMs }: Load): Promise<PodEnd> {
  const pod = startProgram("stop-pod.ts", [binary]);
  await waitForNamespace(pod);
  const namespaceProcess = spawn("unshare", ["-n", "cat"], { stdio: ["pipe", "ignore", "inherit"] });
  await waitForNamespace(namespaceProcess);
  joinNetworks(pod, namespaceProcess);
  await readLine(pod);
  const enterCommand = ["nsenter", "-t", String(namespaceProcess.pid), "-n", "--"];
  const client = startProgram(
    "stop-client.ts",
    [POD_ADDRESS, APP_PORT, String(clients), String(pauseMs)],
    enterCommand,
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  pod.stdin?.write("stop\n");
  await readLine(pod);
  // After the app's exit, requests are refused. The clients count them as failed, and the manager counts them as resets.
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.stdin?.end();
  const counts = JSON.parse(await readLine(client));
  pod.stdin?.write("end\n");
  const report = JSON.parse(await readLine(pod));
  namespaceProcess.stdin?.end();
  return { requests: counts.requests, failedRequests: counts.failed, reportedResets: report.resets?.stopping };
}

function startProgram(
  program: string,
  args: readonly string[],
  enter: readonly string[] = ["unshare", "-n", "--"],
): ChildProcess {
  const [command = "", ...rest] = enter;
  const file = new URL(program, import.meta.url).pathname;
  return spawn(command, [...rest, process.execPath, file, ...args], { stdio: ["pipe", "pipe", "inherit"] });
}

async function waitForNamespace({ pid }: ChildProcess): Promise<void> {
  const ownNamespace = readNamespace("self");
  while (readNamespace(String(pid)) === ownNamespace) await new Promise((resolve) => setTimeout(resolve, 5));
}

function readNamespace(process: string): string {
  return spawnSync("readlink", [`/proc/${process}/ns/net`], { encoding: "utf8" }).stdout;
}

async function readLine(program: ChildProcess): Promise<string> {
  let text = unreadOutput.get(program) ?? "";
  while (!text.includes("\n")) {
    if (program.stdout === null) throw new Error("the program has no output");
    const [chunk] = await once(program.stdout, "data");
    text += String(chunk);
  }
  const end = text.indexOf("\n");
  unreadOutput.set(program, text.slice(end + 1));
  return text.slice(0, end);
}

function isMiscounted({ isExact }: Load, { failedRequests, reportedResets }: PodEnd): boolean {
  if (reportedResets === undefined || reportedResets < failedRequests) return true;
  return isExact && reportedResets !== failedRequests;
}

function formatSummary(load: Load, results: readonly PodEnd[]): string {
  const sum = (countOf: (end: PodEnd) => number): number => results.reduce((total, end) => total + countOf(end), 0);
  const count = (matches: (end: PodEnd) => boolean): number => results.filter(matches).length;
  return [
    `${load.title}: ${results.length} Pods stopped, ${sum(({ requests }) => requests)} requests`,
    `${sum(({ failedRequests }) => failedRequests)} failed, ${sum(({ reportedResets = 0 }) => reportedResets)} reported`,
    `reports equal the failures in ${count(({ failedRequests, reportedResets }) => failedRequests === reportedResets)}`,
    `exceed them in ${count(({ failedRequests, reportedResets = 0 }) => reportedResets > failedRequests)}`,
    `are below them in ${count(({ failedRequests, reportedResets = 0 }) => reportedResets < failedRequests)}`,
    `are missing in ${count(({ reportedResets }) => reportedResets === undefined)}`,
  ].join(", ");
}
