import { createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PodRunner } from "../../src/demo/pods/pod-runner.ts";
import type { RunningPod } from "../../src/demo/pods/running-pod.ts";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";
import {
  container,
  createTestRunner,
  EXITS_ON_SIGTERM,
  eventLines,
  execHook,
  IGNORES_SIGTERM,
  pod,
  secondsBetween,
  sidecar,
  untilEvents,
} from "./pod-under-test.ts";
import { scriptGate } from "./script-gate.ts";

let runner: PodRunner;
beforeEach(() => {
  runner = createTestRunner();
});
afterEach(() => runner.close());

/** Starts the Pod and waits until the named containers have set their traps. */
async function startPod(spec: object, ...up: readonly string[]): Promise<RunningPod> {
  const started = await runner.start(pod(spec));
  await untilEvents(started, ...up.map((name) => `${name}: up`));
  return started;
}

describe("the deletion of a Pod in the demo", () => {
  test("starts all hooks at the same time, and signals each container after its own hook", async () => {
    const web = await startPod(
      {
        initContainers: [sidecar("mesh", EXITS_ON_SIGTERM, execHook("sleep 0.6"))],
        containers: [
          container("a", EXITS_ON_SIGTERM, execHook("sleep 0.6")),
          container("b", EXITS_ON_SIGTERM, execHook("sleep 0.6")),
        ],
      },
      "mesh",
      "a",
      "b",
    );
    await web.remove();
    const lines = eventLines(web);
    const lastStart = lines.findLastIndex((line) => line.startsWith("hook-started"));
    const firstEnd = lines.findIndex((line) => line.startsWith("hook-ended"));
    expect(lines.filter((line) => line.startsWith("hook-started"))).toHaveLength(3);
    expect(firstEnd).toBeGreaterThan(lastStart);
    for (const name of ["a", "b", "mesh"])
      expect(lines.indexOf(`SIGTERM ${name}`)).toBeGreaterThan(lines.indexOf(`hook-ended ${name}`));
  });

  test("stops a container with its lifecycle.stopSignal", async () => {
    const exitsOnSigquit = "trap '' TERM; trap 'echo quit; exit 0' QUIT; echo up; while :; do sleep 0.05; done";
    const web = await startPod(
      { containers: [container("a", exitsOnSigquit, { lifecycle: { stopSignal: "SIGQUIT" } })] },
      "a",
    );
    await web.remove();
    await untilEvents(web, "a: quit");
    expect(eventLines(web)).not.toContain("SIGKILL a");
  });

  test("signals a container without a hook while another container's hook runs", async () => {
    const hookGate = scriptGate();
    const spec = {
      containers: [container("a", EXITS_ON_SIGTERM, execHook(hookGate.waitCommand)), container("b", EXITS_ON_SIGTERM)],
    };
    const web = await startPod(spec, "a", "b");
    const removal = web.remove();
    await untilEvents(web, "exited b");
    hookGate.open();
    await removal;
    const lines = eventLines(web);
    expect(lines.indexOf("exited b")).toBeLessThan(lines.indexOf("hook-ended a"));
  });

  test("signals sidecars after the regular containers have exited, in reverse order", async () => {
    const spec = {
      initContainers: [sidecar("first", EXITS_ON_SIGTERM), sidecar("second", EXITS_ON_SIGTERM)],
      containers: [container("app", "trap 'sleep 0.5; exit 0' TERM; echo up; while :; do sleep 0.05; done")],
    };
    const web = await startPod(spec, "first", "second", "app");
    await web.remove();
    const order = eventLines(web).filter((line) => line.startsWith("SIGTERM") || line.startsWith("exited"));
    expect(order).toEqual([
      "SIGTERM app",
      "exited app",
      "SIGTERM second",
      "exited second",
      "SIGTERM first",
      "exited first",
    ]);
  });

  test("signals all containers after the grace period, and kills containers and hooks 2 s later", async () => {
    const spec = {
      terminationGracePeriodSeconds: 1,
      initContainers: [sidecar("mesh", IGNORES_SIGTERM)],
      containers: [container("app", IGNORES_SIGTERM, execHook("sleep 60"))],
    };
    const web = await startPod(spec, "mesh", "app");
    await web.remove();
    const lines = eventLines(web);
    expect(lines).toContain("hook-overran app");
    for (const name of ["app", "mesh"]) {
      expect(secondsBetween(web, "deleted", `SIGTERM ${name}`)).toBeGreaterThanOrEqual(0.99);
      expect(secondsBetween(web, `SIGTERM ${name}`, `SIGKILL ${name}`)).toBeGreaterThanOrEqual(1.99);
    }
    // The hook fails when its process is killed with its container.
    await untilEvents(web, "FailedPreStopHook app");
    expect(eventLines(web).indexOf("FailedPreStopHook app")).toBeGreaterThan(lines.indexOf("SIGKILL app"));
  });

  test("uses the grace period of the request instead of the Pod's", async () => {
    // The Pod's grace period is longer than the test's time limit, so the runner must not use it.
    const web = await startPod(
      { terminationGracePeriodSeconds: 3_600, containers: [container("app", IGNORES_SIGTERM)] },
      "app",
    );
    await web.remove(0);
    expect(eventLines(web)).toContain("SIGKILL app");
  });

  test("is not shortened by a second deletion with another grace period", async () => {
    const web = await startPod({ containers: [container("app", EXITS_ON_SIGTERM, execHook("sleep 1"))] }, "app");
    await Promise.all([web.remove(), web.remove(0)]);
    expect(eventLines(web).filter((line) => line === "hook-started app")).toHaveLength(1);
    expect(eventLines(web)).toContain("hook-ended app");
  });

  test("kills the remaining processes of a container", async () => {
    const script = `sh -c 'trap "" TERM; while :; do sleep 0.05; done' & echo "child $!"; trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done`;
    const web = await startPod({ containers: [container("app", script)] }, "app");
    const line = eventLines(web).find((lines) => lines.startsWith("app: child ")) ?? "";
    const child = Number(line.split(" ").at(-1));
    expect(() => process.kill(child, 0)).not.toThrow();
    await web.remove();
    await eventually(() => expect(isAlive(child)).toBe(false));
  });
});

describe("a hook", () => {
  test.for([
    { title: "that fails", handler: { exec: { command: ["sh", "-c", "exit 3"] } } },
    { title: "whose program is missing", handler: { exec: { command: ["/no/such/program"] } } },
    { title: "whose connection is refused", handler: { httpGet: { path: "/", port: 9 } } },
    { title: "of a type that the kubelet does not support", handler: { tcpSocket: { port: 9 } } },
  ])(
    "$title is recorded as FailedPreStopHook, and the container gets its stop signal immediately",
    async ({ handler }) => {
      const web = await startPod(
        { containers: [container("app", EXITS_ON_SIGTERM, { lifecycle: { preStop: handler } })] },
        "app",
      );
      await web.remove();
      const lines = eventLines(web).filter(isOfRunner);
      expect(lines.slice(-5)).toEqual([
        "hook-started app",
        "FailedPreStopHook app",
        "SIGTERM app",
        "exited app",
        "gone",
      ]);
    },
  );

  test("succeeds even with status 500, and its request has the kubelet's user agent and the hook's headers", async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers["user-agent"]} ${request.headers["x-a"]}`);
      response.writeHead(500).end("no");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const get = { host: "127.0.0.1", port, path: "/stop", httpHeaders: [{ name: "X-A", value: "1" }] };
    const hook = { lifecycle: { preStop: { httpGet: get } } };
    const web = await startPod({ containers: [container("app", EXITS_ON_SIGTERM, hook)] }, "app");
    await web.remove();
    server.close();
    expect(requests).toEqual(["GET /stop kube-lifecycle/1.37 1"]);
    expect(eventLines(web)).toContain("hook-ended app");
  });

  test("keeps its connection open until the Pod is gone, as in the kubelet", async () => {
    let open = 0;
    const server = createServer((_request, response) => response.end("ok")).on("connection", (socket) => {
      open += 1;
      socket.once("close", () => {
        open -= 1;
      });
    });
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const hook = { lifecycle: { preStop: { httpGet: { host: "127.0.0.1", port, path: "/" } } } };
    const otherGate = scriptGate();
    const spec = {
      containers: [
        container("app", EXITS_ON_SIGTERM, hook),
        container("other", EXITS_ON_SIGTERM, execHook(otherGate.waitCommand)),
      ],
    };
    const web = await startPod(spec, "app", "other");
    const removal = web.remove();
    await untilEvents(web, "exited app");
    expect(open).toBe(1);
    otherGate.open();
    await removal;
    await eventually(() => expect(open).toBe(0));
    server.close();
  });

  test("of type sleep succeeds after its duration", async () => {
    const hook = { lifecycle: { preStop: { sleep: { seconds: 1 } } } };
    const web = await startPod({ containers: [container("app", EXITS_ON_SIGTERM, hook)] }, "app");
    await web.remove();
    expect(secondsBetween(web, "hook-started app", "hook-ended app")).toBeGreaterThanOrEqual(0.99);
  });
});

describe("a container that exits", () => {
  test("is restarted unless the Pod is terminating, even if it is a native sidecar", async () => {
    const spec = {
      initContainers: [sidecar("mesh", "echo up; sleep 0.2")],
      containers: [container("app", "sleep 0.2")],
    };
    const web = await startPod(spec, "mesh");
    await untilEvents(web, "restarting mesh", "restarting app");
    await eventually(() => expect(starts(web, "mesh") > 1 && starts(web, "app") > 1).toBe(true));
  });

  test("is restarted with back-off", async () => {
    const web = await startPod({ containers: [container("app", "echo up; sleep 0.2")] }, "app");
    const delays = () => web.events.filter(({ type }) => type === "restarting").map(({ detail }) => detail);
    await eventually(() => expect(delays()).toEqual(["in 500 ms", "in 10000 ms"]));
    await web.remove();
  });

  test("is not restarted while the Pod is terminating", async () => {
    const [mesh, hook] = [scriptGate(), scriptGate()];
    const spec = {
      initContainers: [sidecar("mesh", `echo up; ${mesh.waitCommand}; echo done`)],
      containers: [container("app", EXITS_ON_SIGTERM, execHook(hook.waitCommand))],
    };
    const web = await startPod(spec, "mesh", "app");
    const removal = web.remove();
    mesh.open();
    await untilEvents(web, "mesh: done");
    await pause(1_000, "twice the delay of a restart");
    hook.open();
    await removal;
    expect(starts(web, "mesh")).toBe(1);
  });

  test("completes a Pod with restartPolicy Never, whose sidecar gets its stop signal after the sidecar's hook", async () => {
    const job = scriptGate();
    const spec = {
      restartPolicy: "Never",
      initContainers: [sidecar("mesh", EXITS_ON_SIGTERM, execHook("echo hooked"))],
      containers: [container("job", job.waitCommand)],
    };
    const web = await startPod(spec, "mesh");
    job.open();
    await web.whenGone;
    // Output of a process may be read after its exit.
    await untilEvents(web, "mesh: hooked");
    expect(eventLines(web).filter(isOfRunner).slice(-5)).toEqual([
      "hook-started mesh",
      "hook-ended mesh",
      "SIGTERM mesh",
      "exited mesh",
      "gone",
    ]);
    expect(starts(web, "job")).toBe(1);
  });
});

describe("a Pod", () => {
  test("runs its init containers to completion in order and keeps its sidecars running", async () => {
    const migration = scriptGate();
    const spec = {
      initContainers: [sidecar("mesh", EXITS_ON_SIGTERM), container("migrate", `sleep 0.2; ${migration.openCommand}`)],
      containers: [container("app", `${migration.isOpen} && echo migrated; ${EXITS_ON_SIGTERM}`)],
    };
    const web = await startPod(spec, "mesh", "app");
    expect(eventLines(web).filter(isOfRunner).slice(0, 3)).toEqual(["started mesh", "started migrate", "started app"]);
    expect(eventLines(web)).toContain("app: migrated");
    expect(web.isRunning("mesh")).toBe(true);
  });

  test("does not start when an init container fails", async () => {
    const spec = { initContainers: [container("migrate", "exit 2")], containers: [container("app", EXITS_ON_SIGTERM)] };
    await expect(runner.start(pod(spec))).rejects.toThrow("init container migrate of Pod web failed");
  });

  test("runs the hook of a container whose liveness probe fails and restarts only that container", async () => {
    const spec = {
      containers: [
        container("app", EXITS_ON_SIGTERM, execHook("echo hooked")),
        container("other", EXITS_ON_SIGTERM, execHook("echo no")),
      ],
    };
    const web = await startPod(spec, "app", "other");
    await web.restart("app");
    await eventually(() => expect(starts(web, "app")).toBe(2));
    await untilEvents(web, "app: hooked");
    expect(eventLines(web)).not.toContain("other: no");
    expect(eventLines(web)).not.toContain("deleted");
  });

  test("is Ready while its probe succeeds, and is probed in the probe's period even while it is terminating", async () => {
    const responses = { status: 503 };
    const probes = { count: 0 };
    const server = createServer((_request, response) => {
      probes.count += 1;
      response.writeHead(responses.status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const readinessProbe = { httpGet: { host: "127.0.0.1", port, path: "/" }, periodSeconds: 1 };
    const hook = scriptGate();
    const spec = {
      containers: [container("app", EXITS_ON_SIGTERM, { readinessProbe, ...execHook(hook.waitCommand) })],
    };
    const web = await startPod(spec, "app");
    expect(web.isReady()).toBe(false);
    responses.status = 204;
    await untilEvents(web, "ready");
    const removal = web.remove();
    responses.status = 500;
    await untilEvents(web, "unready");
    // Until its first success a probe runs more often than its period.
    const { count } = probes;
    const fromMs = performance.now();
    await eventually(() => expect(probes.count - count).toBeGreaterThan(1));
    expect(performance.now() - fromMs).toBeGreaterThan(950);
    expect(eventLines(web)).not.toContain("hook-ended app");
    hook.open();
    await removal;
    server.close();
  });
});

/** Excludes lines of container output. */
function isOfRunner(line: string): boolean {
  return !line.includes(": ");
}

function starts(web: RunningPod, name: string): number {
  return eventLines(web).filter((line) => line === `started ${name}`).length;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
