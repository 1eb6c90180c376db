/**
 * `npm run bench:stops [-- --ends=NUMBER]`: ends Pods under load and compares the connections that each manager reports as reset
 * with the failed requests that its clients counted. Pod and clients have a network namespace each; the native build is used.
 *
 * Exits with 1 if a Pod reported fewer than its clients counted, or not exactly as many at about 200 requests a second.
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

type End = { readonly requests: number; readonly failed: number; readonly reported: number | undefined };

const binary = new URL("../build/native/lastcall", import.meta.url).pathname;
const ends = Number(process.argv.find((arg) => arg.startsWith("--ends="))?.slice("--ends=".length) ?? "100");
if (!Number.isInteger(ends) || ends < 1) {
  process.stderr.write("bench:stops: --ends is not a whole number from 1\n");
  process.exit(2);
}
if (!canIsolate) process.exit(1);
const unread = new WeakMap<ChildProcess, string>();
let isFailed = false;
for (const load of LOADS) {
  const results: End[] = [];
  for (let count = 0; count < ends; count += 1) results.push(await endPod(load));
  process.stdout.write(`${summaryOf(load, results)}\n`);
  isFailed ||= results.some((end) => isWrong(load, end));
}
process.exit(isFailed ? 1 : 0);

async function endPod({ clients, pauseMs }: Load): Promise<End> {
  const pod = startProgram("stop-pod.ts", [binary]);
  await untilInNamespace(pod);
  const holder = spawn("unshare", ["-n", "cat"], { stdio: ["pipe", "ignore", "inherit"] });
  await untilInNamespace(holder);
  joinNetworks(pod, holder);
  await nextLine(pod);
  const enter = ["nsenter", "-t", String(holder.pid), "-n", "--"];
  const client = startProgram("stop-client.ts", [POD_ADDRESS, APP_PORT, String(clients), String(pauseMs)], enter);
  await new Promise((resolve) => setTimeout(resolve, 300));
  pod.stdin?.write("stop\n");
  await nextLine(pod);
  // Requests after the app's exit are refused, and count on both sides.
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.stdin?.end();
  const counts = JSON.parse(await nextLine(client));
  pod.stdin?.write("end\n");
  const report = JSON.parse(await nextLine(pod));
  holder.stdin?.end();
  return { requests: counts.requests, failed: counts.failed, reported: report.resets?.stopping };
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

async function untilInNamespace({ pid }: ChildProcess): Promise<void> {
  const own = namespaceOf("self");
  while (namespaceOf(String(pid)) === own) await new Promise((resolve) => setTimeout(resolve, 5));
}

function namespaceOf(process: string): string {
  return spawnSync("readlink", [`/proc/${process}/ns/net`], { encoding: "utf8" }).stdout;
}

async function nextLine(program: ChildProcess): Promise<string> {
  let text = unread.get(program) ?? "";
  while (!text.includes("\n")) {
    if (program.stdout === null) throw new Error("the program has no output");
    const [chunk] = await once(program.stdout, "data");
    text += String(chunk);
  }
  const end = text.indexOf("\n");
  unread.set(program, text.slice(end + 1));
  return text.slice(0, end);
}

function isWrong({ isExact }: Load, { failed, reported }: End): boolean {
  if (reported === undefined || reported < failed) return true;
  return isExact && reported !== failed;
}

function summaryOf(load: Load, results: readonly End[]): string {
  const sum = (value: (end: End) => number): number => results.reduce((total, end) => total + value(end), 0);
  const count = (matches: (end: End) => boolean): number => results.filter(matches).length;
  return [
    `${load.title}: ${results.length} ends, ${sum(({ requests }) => requests)} requests`,
    `${sum(({ failed }) => failed)} failed, ${sum(({ reported = 0 }) => reported)} reported`,
    `equal in ${count(({ failed, reported }) => failed === reported)}`,
    `more in ${count(({ failed, reported = 0 }) => reported > failed)}`,
    `fewer in ${count(({ failed, reported = 0 }) => reported < failed)}`,
    `unknown in ${count(({ reported }) => reported === undefined)}`,
  ].join(", ");
}
