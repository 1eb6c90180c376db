/** The program as a person runs it, on a cluster that is reached over TLS with a kubeconfig. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { someDrain } from "../../drain-history/some-drain.ts";
import { nodeSettings } from "../../node-settings.ts";
import { eventually } from "../../time/eventually.ts";
import { type FakeCluster, fakeCluster, type Replica } from "./fake-cluster.ts";

const PROGRAM = join(import.meta.dirname, "../../../src/lastcall.ts");
const LIMIT_MS = 120_000;
const FIRST = someDrain({ id: "a-1" });
const LATER = someDrain({ id: "a-2", uid: "u-2", pod: "web-7d9f-fghij", endedAtMs: FIRST.endedAtMs + 65_000 });

const children: ChildProcess[] = [];
let cluster: FakeCluster;
let replica: Replica;
beforeEach(async () => {
  cluster = await fakeCluster();
  replica = await cluster.addReplica("lastcall-webhook-a", [FIRST]);
});
afterEach(async () => {
  // What a failed case left running.
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await cluster.close();
});

type Running = {
  readonly child: ChildProcess;
  readonly said: { out: string; err: string };
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>;
};

function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  program: string = PROGRAM,
): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: cluster.folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: cluster.folder, ...nodeSettings(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  children.push(child);
  const said = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  const ended = new Promise<Awaited<Running["ended"]>>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status, signal }));
  });
  return { child, said, ended };
}

async function seen(running: Running, text: string): Promise<void> {
  await eventually(() => expect(running.said.out + running.said.err).toContain(text));
}

describe("the program", { timeout: LIMIT_MS }, () => {
  test("reads the cluster of KUBECONFIG and prints the table", async () => {
    const running = start(["drains"], { KUBECONFIG: cluster.kubeconfig });
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(running.said.err).toBe("");
    expect(running.said.out).toMatch(/^AGE .*\n\d+d +shop +web-7d9f-abcde +rs\/web-7d9f +drained +7\.3s +no traffic/);
  });

  test("says that there is no kubeconfig, and where it looked", async () => {
    const running = start(["timeline", "web"], {});
    expect(await running.ended).toEqual({ status: 1, signal: null });
    expect(running.said).toEqual({
      out: "",
      err: `error: no kubeconfig was found: give --kubeconfig FILE or set KUBECONFIG (there is no ${join(cluster.folder, ".kube/config")})\n`,
    });
  });

  test.for(["SIGINT", "SIGTERM"] as const)("watches until %s, and then is done", async (signal) => {
    const running = start(["drains", "--watch"], { KUBECONFIG: cluster.kubeconfig });
    await seen(running, "web-7d9f-abcde");
    replica.add(LATER);
    await seen(running, "web-7d9f-fghij");
    running.child.kill(signal);
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(running.said.err).toBe("");
    expect(running.said.out.trimEnd().split("\n")).toHaveLength(3);
  });

  test("ends a watch whose reader has seen enough", async () => {
    const running = start(["drains", "--watch", "--json"], { KUBECONFIG: cluster.kubeconfig });
    await seen(running, "a-1");
    running.child.stdout?.destroy();
    replica.add(LATER);
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(running.said.err).toBe("");
  });

  test("ends a watch in the middle of a look that is never answered", async () => {
    const running = start(["drains", "--watch"], { KUBECONFIG: cluster.kubeconfig });
    await seen(running, "web-7d9f-abcde");
    cluster.mute.add("lastcall-webhook-a");
    const before = cluster.requests.length;
    await eventually(() =>
      expect(cluster.requests.slice(before).some((one) => one.includes("/portforward"))).toBe(true),
    );
    running.child.kill("SIGINT");
    expect(await running.ended).toEqual({ status: 0, signal: null });
  });

  test("draws a drain into a file, and from a file", async () => {
    const drawn = start(["timeline", "a-1", "--svg", "drain.svg", "--json"], { KUBECONFIG: cluster.kubeconfig });
    expect(await drawn.ended).toEqual({ status: 0, signal: null });
    expect(readFileSync(join(cluster.folder, "drain.svg"), "utf8")).toMatch(/^<svg .*web-7d9f-abcde/);
    writeFileSync(join(cluster.folder, "one.json"), drawn.said.out);
    const again = start(["timeline", "a-1", "-f", "one.json"], {});
    expect(await again.ended).toEqual({ status: 0, signal: null });
    expect(again.said.out).toContain("The drain of Pod shop/web-7d9f-abcde");
  });

  test("is a plugin of kubectl under the name of one", async () => {
    const link = join(cluster.folder, "kubectl-lastcall");
    symlinkSync(PROGRAM, link);
    const running = start(["drains", "--json"], { KUBECONFIG: cluster.kubeconfig }, link);
    expect(await running.ended).toEqual({ status: 0, signal: null });
    expect(JSON.parse(running.said.out).drains).toEqual([FIRST]);
    const help = start(["--help"], {}, link);
    await help.ended;
    expect(help.said.out).toMatch(/\n {2}drains .*(\n.*)*\n {2}timeline /);
  });

  test("names a picture it cannot write", async () => {
    const running = start(["timeline", "a-1", "--svg", "gone/drain.svg"], { KUBECONFIG: cluster.kubeconfig });
    expect(await running.ended).toEqual({ status: 1, signal: null });
    expect(running.said.err).toMatch(/^error: gone\/drain\.svg cannot be written: ENOENT/);
  });
});
