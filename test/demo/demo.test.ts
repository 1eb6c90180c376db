import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, type TestContext, test } from "vitest";
import { detectNamespaces } from "../../src/demo/network/namespace-network.ts";
import { eventually } from "../time/eventually.ts";
import { type DemoProcess, processesOf, startDemo } from "./demo-process.ts";

const SAMPLE_APP = fileURLToPath(new URL("../../src/demo/sample-app.ts", import.meta.url));
const HAS_NETWORK_NAMESPACES = detectNamespaces().supported;
const TIMEOUT = { timeout: 400_000 };
/** The shortest delays with which an update without lastcall still loses requests. */
const SHORT_DELAYS = ["--propagation=1s", "--drain-delay=3s"];
const ONE_REPLICA = ["--replicas=1", ...SHORT_DELAYS];

/** Concurrent tests need their own context for cleanup. */
function demo(context: TestContext, ...args: readonly string[]): DemoProcess {
  const process = startDemo(...args);
  context.onTestFinished(process.remove);
  return process;
}

/** Parses the result in the last line. @throws with the whole output if the last line is not a result */
function resultOf(run: DemoProcess, status: number) {
  const lastLine = run.output().trim().split("\n").at(-1) ?? "";
  if (!lastLine.startsWith("{")) throw new Error(`ended with ${status} and: ${run.output()}`);
  return JSON.parse(lastLine);
}

// The tests mostly wait, so together they take only as long as the longest of them if they run concurrently.
describe.runIf(HAS_NETWORK_NAMESPACES).concurrent("the demo with a network namespace for each Pod", () => {
  test(
    "loses requests only without lastcall, and does not leave a process or file behind",
    TIMEOUT,
    async (context) => {
      const run = demo(context, "--network=namespace", "--json", ...ONE_REPLICA);
      const status = await run.ended;
      const result = resultOf(run, status);
      expect(result).toMatchObject({ with: { failed: 0 }, network: "namespace", ok: true });
      expect(result.without.failed).toBeGreaterThan(0);
      expect(result.with.drainSeconds).toHaveLength(1);
      expect(result.with.drainSeconds[0]).toBeGreaterThanOrEqual(3);
      expect(result.with.drains[0]).toMatchObject({ outcome: "drained" });
      expect(status).toBe(0);
      await run.untilCleanedUp();
    },
  );

  test("has a relay that sends the manager the withdrawal of its Pod", TIMEOUT, async (context) => {
    // On a busy machine a hook and the relay's client start slowly, so the drain delay is long.
    const run = demo(context, "--network=namespace", "--json", "--replicas=1", "--propagation=2s", "--drain-delay=8s");
    const [drain] = resultOf(run, await run.ended).with.drains;
    expect(drain).toMatchObject({ outcome: "drained", relay: "withdrawn" });
    const { slicesSeconds, learnedSeconds } = drain.withdrawal;
    expect(slicesSeconds).toBeGreaterThanOrEqual(1);
    expect(learnedSeconds).toBeGreaterThanOrEqual(slicesSeconds);
    await run.untilCleanedUp();
  });

  test(
    "does not lose a request with --no-relay, and its result does not have withdrawal times",
    TIMEOUT,
    async (context) => {
      const run = demo(context, "--network=namespace", "--json", "--no-relay", ...ONE_REPLICA);
      const result = resultOf(run, await run.ended);
      expect(result).toMatchObject({ with: { failed: 0 }, ok: true });
      expect(result.with.drains[0].withdrawal).toEqual({ slicesSeconds: null, learnedSeconds: null });
      expect(result.with.drains[0].relay).not.toBe("withdrawn");
    },
  );

  test.for([
    { signal: "SIGINT", during: "Rolling update with lastcall" },
    { signal: "SIGTERM", during: "Rolling update without lastcall" },
  ] as const)(
    "exits with status 130 after $signal during '$during', and does not leave a process or file behind",
    TIMEOUT,
    async ({ signal, during }, context) => {
      const run = demo(context, "--network=namespace", ...ONE_REPLICA);
      await run.untilPrinted(during);
      await eventually(() => expect(processesOf(run.home).length).toBeGreaterThan(2));
      run.child.kill(signal);
      expect(await run.ended).toBe(130);
      await run.untilCleanedUp();
    },
  );

  test("does not leave a process or file behind if it is killed by SIGKILL", TIMEOUT, async (context) => {
    const run = demo(context, "--network=namespace", ...ONE_REPLICA);
    await run.untilPrinted("Rolling update without lastcall");
    run.child.kill("SIGKILL");
    await run.ended;
    await run.untilCleanedUp();
  });
});

describe.concurrent("the demo with a loopback address for each Pod", () => {
  test(
    "does not lose a request of the user's own Deployment, and writes an image with --svg",
    TIMEOUT,
    async (context) => {
      const home = homeOf(context);
      const file = join(home, "deployment.json");
      const image = join(home, "end.svg");
      writeFileSync(file, JSON.stringify(ownDeployment()));
      const run = demo(context, "--network=loopback", "--json", "-f", file, `--svg=${image}`, ...SHORT_DELAYS);
      const status = await run.ended;
      expect(resultOf(run, status)).toMatchObject({ with: { failed: 0 }, network: "loopback", ok: true });
      expect(status).toBe(0);
      expect(readFileSync(image, "utf8")).toContain("Shutdown of Pod own-");
      await run.untilCleanedUp();
    },
  );

  test("exits with status 130 on SIGINT, and does not leave a process or file behind", TIMEOUT, async (context) => {
    const run = demo(context, "--network=loopback", ...ONE_REPLICA);
    await run.untilPrinted("Rolling update without lastcall");
    await eventually(() => expect(processesOf(run.home).length).toBeGreaterThan(2));
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    await run.untilCleanedUp();
  });
});

describe.concurrent("the demo with invalid input", () => {
  test("exits with status 64 and the name of the invalid flag", TIMEOUT, async (context) => {
    const run = demo(context, "--propagation=soon");
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain('--propagation: Got "soon"');
  });

  test("exits with status 64 and the name of a container without a command", TIMEOUT, async (context) => {
    const file = join(homeOf(context), "deployment.yaml");
    writeFileSync(
      file,
      "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: a}]}}}\n",
    );
    const run = demo(context, "--network=loopback", "-f", file);
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain("Container a of Deployment web has no command");
    await run.untilCleanedUp();
  });

  test("exits with status 64 and the name of a program that is not installed", TIMEOUT, async (context) => {
    const file = join(homeOf(context), "deployment.yaml");
    writeFileSync(
      file,
      "kind: Deployment\nspec: {template: {spec: {containers: [{name: a, command: [no-such-program], ports: [{containerPort: 80}]}]}}}\n",
    );
    const run = demo(context, "--network=loopback", "-f", file);
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain("Container a runs no-such-program, which is not in PATH");
  });

  test.for(["/nowhere/end.svg", tmpdir()])(
    "exits with status 64 if it cannot write to --svg=%s",
    TIMEOUT,
    async (path, context) => {
      const run = demo(context, "--network=loopback", `--svg=${path}`);
      expect(await run.ended).toBe(64);
      expect(run.output()).toContain(`--svg: cannot write "${path}"`);
    },
  );
});

function homeOf(context: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "lastcall-demo-files-"));
  context.onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

function ownDeployment(): object {
  return {
    kind: "Deployment",
    metadata: { name: "own" },
    spec: {
      replicas: 1,
      template: {
        spec: {
          containers: [
            {
              name: "server",
              command: [process.execPath, SAMPLE_APP],
              env: [
                { name: "PORT", value: "9123" },
                { name: "LISTEN_ON", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
              ],
              ports: [{ containerPort: 9123 }],
              readinessProbe: { tcpSocket: { port: 9123 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}
