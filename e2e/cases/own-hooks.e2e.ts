/** Tests containers with their own preStop hooks. */
import type { V1Container, V1LifecycleHandler, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { expectInjectedPods, managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { followLog, loggedAtMs, type PodLog } from "../client/pod-log.ts";
import { barePod, nodeContainer } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };

const FIRST_PORT = 8100;
/** Writes to the container's log, as a shell script could. */
const LOG_SCRIPT = `require("node:fs").writeFileSync("/proc/1/fd/1", '{"atMs":' + Date.now() + ',"what":"hook run"}\\n')`;
const EXEC_HOOK: V1LifecycleHandler = { exec: { command: ["/usr/local/bin/node", "-e", LOG_SCRIPT] } };
const SLEEP_HOOK: V1LifecycleHandler = { sleep: { seconds: 3 } };
const ZERO_SLEEP_HOOK: V1LifecycleHandler = { sleep: { seconds: 0 } };
/** The image has no shell, so this hook would fail; the manager's hook must replace it. */
const SHELL_SLEEP_HOOK: V1LifecycleHandler = { exec: { command: ["sh", "-c", "sleep 7"] } };
/** Calls the container with this index, which outlives the hook's container and logs when the kubelet closes the connection. */
const callHook = (at: number): V1LifecycleHandler => ({
  httpGet: { path: "/hook", port: FIRST_PORT + at, scheme: "HTTP" },
});
const CONNECT_HOOK: V1LifecycleHandler = { tcpSocket: { port: FIRST_PORT } };

describe("with prestop: keep", () => {
  test("the containers' exec, httpGet, tcpSocket and sleep hooks stay and run, and the manager delays the stop of the container without a hook", async () => {
    await inNamespace(suite, "own-hooks-kept", NAMESPACE_OPTIONS, async (namespace) => {
      const otherHooks = { connect: CONNECT_HOOK, sleep: SLEEP_HOOK, "no-sleep": ZERO_SLEEP_HOOK };
      const hooks = { free: undefined, exec: EXEC_HOOK, call: callHook(0), ...otherHooks };
      const pod = await startPod(namespace, hooks, { "lastcall.dev/prestop": "keep" });
      for (const [name, hook] of Object.entries(hooks)) {
        if (hook !== undefined) expect(hookOf(pod, name)).toEqual(hook);
      }
      expect(hookOf(pod, "free")?.httpGet?.port).toBe(17_890);
      const logs = logsOf(namespace, Object.keys(hooks));
      const stopDelays = await measureStopDelays(namespace, logs);
      await logs["exec"]?.waitFor('"hook run"');
      await expectKeptConnection(logs["free"]);
      // None of these hooks waits for the drain.
      for (const name of ["exec", "call", "connect", "sleep", "no-sleep"])
        expect(stopDelays[name], name).toBeLessThan(Number(stopDelays["free"]));
      expect(stopDelays["sleep"]).toBeGreaterThanOrEqual(3_000);
      expect(stopDelays["free"]).toBeGreaterThanOrEqual(5_000);
    });
  });
});

describe("with prestop: auto", () => {
  test("hooks that only sleep are replaced by the manager's hook, which lasts at least as long, and other hooks stay", async () => {
    await inNamespace(suite, "own-hooks-auto", NAMESPACE_OPTIONS, async (namespace) => {
      const hooks = {
        sleep: SLEEP_HOOK,
        exec: EXEC_HOOK,
        call: callHook(0),
        shell: SHELL_SLEEP_HOOK,
        "no-sleep": ZERO_SLEEP_HOOK,
      };
      const pod = await startPod(namespace, hooks, {});
      for (const name of ["exec", "call", "no-sleep"] as const) expect(hookOf(pod, name)).toEqual(hooks[name]);
      for (const name of ["sleep", "shell"]) {
        expect(hookOf(pod, name)?.httpGet).toMatchObject({ port: 17_890 });
        expect(hookOf(pod, name)?.httpGet?.path).toContain(`/prestop/${name}`);
      }
      expect(managerOf(pod).args).toContain("--drain-delay=7s");
      const logs = logsOf(namespace, Object.keys(hooks));
      const stopDelays = await measureStopDelays(namespace, logs);
      await logs["exec"]?.waitFor('"hook run"');
      await expectKeptConnection(logs["sleep"]);
      for (const name of ["sleep", "shell"]) expect(stopDelays[name], name).toBeGreaterThanOrEqual(7_000);
      for (const name of ["exec", "call", "no-sleep"])
        expect(stopDelays[name], name).toBeLessThan(Math.min(Number(stopDelays["sleep"]), Number(stopDelays["shell"])));
    });
  });
});

type Hooks = Readonly<Record<string, V1LifecycleHandler | undefined>>;

async function startPod(
  namespace: CaseNamespace,
  hooks: Hooks,
  annotations: Readonly<Record<string, string>>,
): Promise<V1Pod> {
  const containers = Object.entries(hooks).map(([name, hook], at) =>
    hookContainer(namespace, name, FIRST_PORT + at, hook),
  );
  await namespace.apply([barePod(namespace, "hooked", containers, { annotations })]);
  await namespace.kubectl.run(["wait", "--for=condition=Ready", "pod/hooked", "--timeout=90s"]);
  const [pod] = await expectInjectedPods(namespace);
  if (pod === undefined) throw new Error(`Namespace ${namespace.name} has no Pod.`);
  return pod;
}

function hookContainer(
  namespace: CaseNamespace,
  name: string,
  port: number,
  preStop: V1LifecycleHandler | undefined,
): V1Container {
  return {
    ...nodeContainer(namespace, name, ["/app/lifecycle-app.mjs"]),
    env: [{ name: "PORT", value: String(port) }],
    readinessProbe: { httpGet: { path: "/healthz", port }, periodSeconds: 1 },
    ...(preStop === undefined ? {} : { lifecycle: { preStop } }),
  };
}

function hookOf(pod: V1Pod, name: string): V1LifecycleHandler | undefined {
  return pod.spec?.containers.find((one) => one.name === name)?.lifecycle?.preStop;
}

function logsOf(namespace: CaseNamespace, containers: readonly string[]): Readonly<Record<string, PodLog>> {
  return Object.fromEntries(containers.map((name) => [name, followLog(namespace, "hooked", name)]));
}

/**
 * Expects that the kubelet keeps the hook's connection open after the response, as the demo's Pod runner does. The
 * drain does not wait for this connection.
 */
async function expectKeptConnection(log: PodLog | undefined): Promise<void> {
  if (log === undefined)
    throw new Error("Pod hooked: the log of the container with the manager's hook is not followed.");
  await log.waitFor('"hook called"');
  await log.waitFor('"SIGTERM"');
  expect(log.lines().filter((line) => line.includes("hook's connection closed"))).toEqual([]);
}

/** Deletes the Pod and returns the milliseconds until each container's stop signal. */
async function measureStopDelays(
  namespace: CaseNamespace,
  logs: Readonly<Record<string, PodLog>>,
): Promise<Readonly<Record<string, number>>> {
  await Promise.all(Object.values(logs).map((log) => log.waitFor("started")));
  const deletedAtMs = Date.now();
  await namespace.kubectl.run(["delete", "pod", "hooked", "--wait=false"]);
  const delayEntries = Object.entries(logs).map(async ([name, log]) => [
    name,
    (await loggedAtMs(log, "SIGTERM")) - deletedAtMs,
  ]);
  return Object.fromEntries(await Promise.all(delayEntries));
}
