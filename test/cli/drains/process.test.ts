/** Tests `drains` and `timeline` as child processes against a fake cluster over TLS. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { someDrain } from "../../drain-history/some-drain.ts";
import { nodeSettings } from "../../node-settings.ts";
import { eventually } from "../../time/eventually.ts";
import { createFakeCluster, type FakeCluster, type Replica } from "./fake-cluster.ts";

const PROGRAM = join(import.meta.dirname, "../../../src/lastcall.ts");
const LIMIT_MS = 120_000;
const FIRST_DRAIN = someDrain({ id: "a-1" });
const LATER_DRAIN = someDrain({
  id: "a-2",
  uid: "u-2",
  pod: "web-7d9f-fghij",
  endedAtMs: FIRST_DRAIN.endedAtMs + 65_000,
});

const children: ChildProcess[] = [];
let cluster: FakeCluster;
let replica: Replica;
beforeEach(async () => {
  cluster = await createFakeCluster();
  replica = await cluster.addReplica("lastcall-webhook-a", [FIRST_DRAIN]);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await cluster.close();
});

type RunningProcess = {
  readonly child: ChildProcess;
  readonly output: { out: string; err: string };
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>;
};

function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  program: string = PROGRAM,
): RunningProcess {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: cluster.folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: cluster.folder, ...nodeSettings(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  children.push(child);
  const output = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output.err += text;
  });
  const ended = new Promise<Awaited<RunningProcess["ended"]>>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status, signal }));
  });
  return { child, output, ended };
}

async function waitUntilPrinted(running: RunningProcess, text: string): Promise<void> {
  await eventually(() => expect(running.output.out + running.output.err).toContain(text));
}

describe("the program lastcall drains", { timeout: LIMIT_MS }, () => {
  test("prints the table of the cluster in KUBECONFIG", async () => {
    const running = start(["drains"], { KUBECONFIG: cluster.kubeconfig });
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(running.output.err).toBe("");
    expect(running.output.out).toMatch(
      /^AGE .*\n\d+d +shop +web-7d9f-abcde +rs\/web-7d9f +drained +7\.3s +– +no traffic/,
    );
  });

  test("reports the default path of the kubeconfig if no file exists there", async () => {
    const running = start(["timeline", "web"], {});
    expect(await running.ended).toEqual({ status: 1, signal: null });
    expect(running.output).toEqual({
      out: "",
      err: `error: no kubeconfig found at ${join(cluster.folder, ".kube/config")}; set --kubeconfig FILE or KUBECONFIG\n`,
    });
  });

  test.for(["SIGINT", "SIGTERM"] as const)("watches until %s and exits with 0", async (signal) => {
    const running = start(["drains", "--watch"], { KUBECONFIG: cluster.kubeconfig });
    await waitUntilPrinted(running, "web-7d9f-abcde");
    replica.add(LATER_DRAIN);
    await waitUntilPrinted(running, "web-7d9f-fghij");
    running.child.kill(signal);
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(running.output.err).toBe("");
    expect(running.output.out.trimEnd().split("\n")).toHaveLength(3);
  });

  test("ends a watch if the reader of its standard output exits", async () => {
    const running = start(["drains", "--watch", "--json"], { KUBECONFIG: cluster.kubeconfig });
    await waitUntilPrinted(running, "a-1");
    running.child.stdout?.destroy();
    replica.add(LATER_DRAIN);
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(running.output.err).toBe("");
  });

  test("interrupts a watch while a request is pending", async () => {
    const running = start(["drains", "--watch"], { KUBECONFIG: cluster.kubeconfig });
    await waitUntilPrinted(running, "web-7d9f-abcde");
    cluster.unresponsivePods.add("lastcall-webhook-a");
    const earlierCount = cluster.requests.length;
    await eventually(() =>
      expect(cluster.requests.slice(earlierCount).some((request) => request.includes("/portforward"))).toBe(true),
    );
    running.child.kill("SIGINT");
    expect(await running.ended).toEqual({ status: 0, signal: null });
  });

  test("writes a drain as SVG, and reads a record from a file", async () => {
    const svgRun = start(["timeline", "a-1", "--svg", "drain.svg", "--json"], { KUBECONFIG: cluster.kubeconfig });
    expect(await svgRun.ended).toEqual({ status: 0, signal: null });
    expect(readFileSync(join(cluster.folder, "drain.svg"), "utf8")).toMatch(/^<svg .*web-7d9f-abcde/);
    writeFileSync(join(cluster.folder, "one.json"), svgRun.output.out);
    const fileRun = start(["timeline", "a-1", "-f", "one.json"], {});
    expect(await fileRun.ended).toEqual({ status: 0, signal: null });
    expect(fileRun.output.out).toContain("Drain of Pod shop/web-7d9f-abcde");
  });

  test("runs as a kubectl plugin under the name kubectl-lastcall", async () => {
    const link = join(cluster.folder, "kubectl-lastcall");
    symlinkSync(PROGRAM, link);
    const running = start(["drains", "--json"], { KUBECONFIG: cluster.kubeconfig }, link);
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(JSON.parse(running.output.out).drains).toEqual([FIRST_DRAIN]);
    const help = start(["--help"], {}, link);
    await help.ended;
    expect(help.output.out).toMatch(/\n {2}drains .*(\n.*)*\n {2}timeline /);
  });

  test("reports the path of an SVG that cannot be written", async () => {
    const running = start(["timeline", "a-1", "--svg", "gone/drain.svg"], { KUBECONFIG: cluster.kubeconfig });
    expect(await running.ended).toEqual({ status: 1, signal: null });
    expect(running.output.err).toMatch(/^error: gone\/drain\.svg cannot be written: ENOENT/);
  });
});
