import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, type TestContext, test } from "vitest";
import { offerNamespaces } from "../../src/demo/network/namespace-network.ts";
import { eventually } from "../time/eventually.ts";
import { type DemoProcess, processesOf, startDemo } from "./demo-process.ts";

const SAMPLE_APP = fileURLToPath(new URL("../../src/demo/sample-app.ts", import.meta.url));
const NAMESPACES = offerNamespaces().possible;
const LIMIT = { timeout: 400_000 };
/** The shortest update that still shows something. */
const BRIEF = ["--propagation=1s", "--drain-delay=3s"];
const SHORT = ["--replicas=1", ...BRIEF];

/** The context says which of the tests side by side owns it. */
function demo(context: TestContext, ...args: readonly string[]): DemoProcess {
  const process = startDemo(...args);
  context.onTestFinished(process.remove);
  return process;
}

/** The last line is the result; without one the whole output tells why. */
function resultOf(run: DemoProcess, status: number) {
  const last = run.output().trim().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) throw new Error(`ended with ${status} and: ${run.output()}`);
  return JSON.parse(last);
}

// Mostly waiting: side by side they take as long as the longest.
describe.runIf(NAMESPACES).concurrent("with a network namespace for each Pod", () => {
  test(
    "an update loses requests without lastcall, none with it, and nothing is left behind",
    LIMIT,
    async (context) => {
      const run = demo(context, "--network=namespace", "--json", ...SHORT);
      const status = await run.ended;
      const result = resultOf(run, status);
      expect(result).toMatchObject({ with: { failed: 0 }, network: "namespace", ok: true });
      expect(result.without.failed).toBeGreaterThan(0);
      expect(result.with.drainSeconds).toHaveLength(1);
      expect(result.with.drainSeconds[0]).toBeGreaterThanOrEqual(3);
      expect(result.with.drains[0]).toMatchObject({ outcome: "drained" });
      expect(status).toBe(0);
      await run.leavesNothing();
    },
  );

  test("a manager learns from the relay when EndpointSlices withdraw its Pod", LIMIT, async (context) => {
    // On a busy machine a hook and the relay's client take long to start; the delay leaves them the time.
    const run = demo(context, "--network=namespace", "--json", "--replicas=1", "--propagation=2s", "--drain-delay=8s");
    const [drain] = resultOf(run, await run.ended).with.drains;
    expect(drain).toMatchObject({ outcome: "drained", relay: "withdrawn" });
    const { slicesSeconds, learnedSeconds } = drain.withdrawal;
    expect(slicesSeconds).toBeGreaterThanOrEqual(1);
    expect(learnedSeconds).toBeGreaterThanOrEqual(slicesSeconds);
    await run.leavesNothing();
  });

  test("without the relay nothing is lost either, and nothing is said of the slices", LIMIT, async (context) => {
    const run = demo(context, "--network=namespace", "--json", "--no-relay", ...SHORT);
    const result = resultOf(run, await run.ended);
    expect(result).toMatchObject({ with: { failed: 0 }, ok: true });
    expect(result.with.drains[0].withdrawal).toEqual({ slicesSeconds: null, learnedSeconds: null });
    expect(result.with.drains[0].relay).not.toBe("withdrawn");
  });

  test.for([
    { signal: "SIGINT", during: "Rolling update with lastcall" },
    { signal: "SIGTERM", during: "Rolling update without lastcall" },
  ] as const)(
    "$signal during '$during' ends it at once with nothing left",
    LIMIT,
    async ({ signal, during }, context) => {
      const run = demo(context, "--network=namespace", ...SHORT);
      await run.says(during);
      await eventually(() => expect(processesOf(run.home).length).toBeGreaterThan(2));
      run.child.kill(signal);
      expect(await run.ended).toBe(130);
      await run.leavesNothing();
    },
  );

  test("even a kill leaves no process and no file", LIMIT, async (context) => {
    const run = demo(context, "--network=namespace", ...SHORT);
    await run.says("Rolling update without lastcall");
    run.child.kill("SIGKILL");
    await run.ended;
    await run.leavesNothing();
  });
});

describe.concurrent("with a loopback address for each Pod", () => {
  test("a Deployment of one's own is rolled without a loss, and the picture is written", LIMIT, async (context) => {
    const home = homeOf(context);
    const file = join(home, "deployment.json");
    const picture = join(home, "end.svg");
    writeFileSync(file, JSON.stringify(ownDeployment()));
    const rolled = demo(context, "--network=loopback", "--json", "-f", file, `--svg=${picture}`, ...BRIEF);
    const status = await rolled.ended;
    expect(resultOf(rolled, status)).toMatchObject({ with: { failed: 0 }, network: "loopback", ok: true });
    expect(status).toBe(0);
    expect(readFileSync(picture, "utf8")).toContain("The end of Pod own-");
    await rolled.leavesNothing();
  });

  test("Ctrl-C in the middle ends it at once with nothing left", LIMIT, async (context) => {
    const run = demo(context, "--network=loopback", ...SHORT);
    await run.says("Rolling update without lastcall");
    await eventually(() => expect(processesOf(run.home).length).toBeGreaterThan(2));
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    await run.leavesNothing();
  });
});

describe.concurrent("what cannot run", () => {
  test("a wrong flag ends with status 64 and a sentence", LIMIT, async (context) => {
    const run = demo(context, "--propagation=soon");
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain('--propagation: Got "soon"');
  });

  test("a Deployment without commands ends with status 64, a sentence, and nothing left", LIMIT, async (context) => {
    const file = join(homeOf(context), "deployment.yaml");
    writeFileSync(
      file,
      "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: a}]}}}\n",
    );
    const run = demo(context, "--network=loopback", "-f", file);
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain("Container a of Deployment web names no command");
    await run.leavesNothing();
  });
});

describe.concurrent("what is found out before anything runs", () => {
  test("a program that is not installed", LIMIT, async (context) => {
    const file = join(homeOf(context), "deployment.yaml");
    writeFileSync(
      file,
      "kind: Deployment\nspec: {template: {spec: {containers: [{name: a, command: [no-such-program], ports: [{containerPort: 80}]}]}}}\n",
    );
    const run = demo(context, "--network=loopback", "-f", file);
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain("Container a runs no-such-program, which is in no folder of PATH");
  });

  test.for(["/nowhere/end.svg", tmpdir()])("a picture that cannot be written: %s", LIMIT, async (path, context) => {
    const run = demo(context, "--network=loopback", `--svg=${path}`);
    expect(await run.ended).toBe(64);
    expect(run.output()).toContain(`--svg got "${path}", which cannot be written`);
  });
});

/** A folder that lives as long as the test. */
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
