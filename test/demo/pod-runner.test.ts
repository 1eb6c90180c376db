import { createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PodRunner } from "../../src/demo/pods/pod-runner.ts";
import type { RunningPod } from "../../src/demo/pods/running-pod.ts";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";
import {
  container,
  createTestRunner,
  execHook,
  OBEDIENT,
  pod,
  STUBBORN,
  secondsBetween,
  sidecar,
  story,
  tells,
} from "./pod-under-test.ts";
import { scriptGate } from "./script-gate.ts";

let runner: PodRunner;
beforeEach(() => {
  runner = createTestRunner();
});
afterEach(() => runner.close());

/** Starts the Pod and waits for the traps of the named containers. */
async function running(spec: object, ...up: readonly string[]): Promise<RunningPod> {
  const started = await runner.start(pod(spec));
  await tells(started, ...up.map((name) => `${name}: up`));
  return started;
}

describe("the end of a Pod", () => {
  test("starts all hooks before any of them ends, and signals each container after its own", async () => {
    const web = await running(
      {
        initContainers: [sidecar("mesh", OBEDIENT, execHook("sleep 0.6"))],
        containers: [container("a", OBEDIENT, execHook("sleep 0.6")), container("b", OBEDIENT, execHook("sleep 0.6"))],
      },
      "mesh",
      "a",
      "b",
    );
    await web.remove();
    const told = story(web);
    const lastStart = told.findLastIndex((line) => line.startsWith("hook-started"));
    const firstEnd = told.findIndex((line) => line.startsWith("hook-ended"));
    expect(told.filter((line) => line.startsWith("hook-started"))).toHaveLength(3);
    expect(firstEnd).toBeGreaterThan(lastStart);
    for (const name of ["a", "b", "mesh"])
      expect(told.indexOf(`SIGTERM ${name}`)).toBeGreaterThan(told.indexOf(`hook-ended ${name}`));
  });

  test("stops a container with the signal that its Pod names", async () => {
    const quits = "trap '' TERM; trap 'echo quit; exit 0' QUIT; echo up; while :; do sleep 0.05; done";
    const web = await running({ containers: [container("a", quits, { lifecycle: { stopSignal: "SIGQUIT" } })] }, "a");
    await web.remove();
    await tells(web, "a: quit");
    expect(story(web)).not.toContain("SIGKILL a");
  });

  test("signals a container without a hook while the hook of another still runs", async () => {
    const hook = scriptGate();
    const spec = { containers: [container("a", OBEDIENT, execHook(hook.wait)), container("b", OBEDIENT)] };
    const web = await running(spec, "a", "b");
    const ending = web.remove();
    await tells(web, "exited b");
    hook.open();
    await ending;
    const told = story(web);
    expect(told.indexOf("exited b")).toBeLessThan(told.indexOf("hook-ended a"));
  });

  test("signals sidecars only after the regular containers have exited, the first one listed last", async () => {
    const spec = {
      initContainers: [sidecar("first", OBEDIENT), sidecar("second", OBEDIENT)],
      containers: [container("app", "trap 'sleep 0.5; exit 0' TERM; echo up; while :; do sleep 0.05; done")],
    };
    const web = await running(spec, "first", "second", "app");
    await web.remove();
    const order = story(web).filter((line) => line.startsWith("SIGTERM") || line.startsWith("exited"));
    expect(order).toEqual([
      "SIGTERM app",
      "exited app",
      "SIGTERM second",
      "exited second",
      "SIGTERM first",
      "exited first",
    ]);
  });

  test("signals everyone when the grace period is over and kills 2 s later, hooks and all", async () => {
    const spec = {
      terminationGracePeriodSeconds: 1,
      initContainers: [sidecar("mesh", STUBBORN)],
      containers: [container("app", STUBBORN, execHook("sleep 60"))],
    };
    const web = await running(spec, "mesh", "app");
    await web.remove();
    const told = story(web);
    expect(told).toContain("hook-overran app");
    for (const name of ["app", "mesh"]) {
      expect(secondsBetween(web, "deleted", `SIGTERM ${name}`)).toBeGreaterThanOrEqual(0.99);
      expect(secondsBetween(web, `SIGTERM ${name}`, `SIGKILL ${name}`)).toBeGreaterThanOrEqual(1.99);
    }
    // The hook's process dies with its container, and only then has it failed.
    await tells(web, "FailedPreStopHook app");
    expect(story(web).indexOf("FailedPreStopHook app")).toBeGreaterThan(told.indexOf("SIGKILL app"));
  });

  test("takes the grace period of the deletion over the Pod's own", async () => {
    // Its own would not be over before the test is.
    const web = await running(
      { terminationGracePeriodSeconds: 3_600, containers: [container("app", STUBBORN)] },
      "app",
    );
    await web.remove(0);
    expect(story(web)).toContain("SIGKILL app");
  });

  test("is joined by a second deletion, whatever grace period that one names", async () => {
    const web = await running({ containers: [container("app", OBEDIENT, execHook("sleep 1"))] }, "app");
    await Promise.all([web.remove(), web.remove(0)]);
    expect(story(web).filter((line) => line === "hook-started app")).toHaveLength(1);
    expect(story(web)).toContain("hook-ended app");
  });

  test("leaves no process of a container behind", async () => {
    const script = `sh -c 'trap "" TERM; while :; do sleep 0.05; done' & echo "child $!"; trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done`;
    const web = await running({ containers: [container("app", script)] }, "app");
    const line = story(web).find((told) => told.startsWith("app: child ")) ?? "";
    const child = Number(line.split(" ").at(-1));
    expect(() => process.kill(child, 0)).not.toThrow();
    await web.remove();
    await eventually(() => expect(isAlive(child)).toBe(false));
  });
});

describe("a hook", () => {
  test.for([
    { says: "that fails", handler: { exec: { command: ["sh", "-c", "exit 3"] } } },
    { says: "whose program is missing", handler: { exec: { command: ["/no/such/program"] } } },
    { says: "whose connection is refused", handler: { httpGet: { path: "/", port: 9 } } },
    { says: "of a kind the kubelet does not know", handler: { tcpSocket: { port: 9 } } },
  ])("$says is told as FailedPreStopHook and the stop signal follows at once", async ({ handler }) => {
    const web = await running({ containers: [container("app", OBEDIENT, { lifecycle: { preStop: handler } })] }, "app");
    await web.remove();
    const told = story(web).filter(isOfRunner);
    expect(told.slice(-5)).toEqual(["hook-started app", "FailedPreStopHook app", "SIGTERM app", "exited app", "gone"]);
  });

  test("that is answered with 500 has succeeded, and came from the kubelet with its headers", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["user-agent"]} ${request.headers["x-a"]}`);
      response.writeHead(500).end("no");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const get = { host: "127.0.0.1", port, path: "/stop", httpHeaders: [{ name: "X-A", value: "1" }] };
    const hook = { lifecycle: { preStop: { httpGet: get } } };
    const web = await running({ containers: [container("app", OBEDIENT, hook)] }, "app");
    await web.remove();
    server.close();
    expect(asked).toEqual(["GET /stop kube-lifecycle/1.37 1"]);
    expect(story(web)).toContain("hook-ended app");
  });

  test("that was answered leaves its connection open until the Pod is gone, as the kubelet does", async () => {
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
    const other = scriptGate();
    const spec = { containers: [container("app", OBEDIENT, hook), container("other", OBEDIENT, execHook(other.wait))] };
    const web = await running(spec, "app", "other");
    const ending = web.remove();
    await tells(web, "exited app");
    expect(open).toBe(1);
    other.open();
    await ending;
    await eventually(() => expect(open).toBe(0));
    server.close();
  });

  test("that sleeps takes its time and succeeds", async () => {
    const hook = { lifecycle: { preStop: { sleep: { seconds: 1 } } } };
    const web = await running({ containers: [container("app", OBEDIENT, hook)] }, "app");
    await web.remove();
    expect(secondsBetween(web, "hook-started app", "hook-ended app")).toBeGreaterThanOrEqual(0.99);
  });
});

describe("a container that exits by itself", () => {
  test("is started again while the Pod lives, a native sidecar too", async () => {
    const spec = {
      initContainers: [sidecar("mesh", "echo up; sleep 0.2")],
      containers: [container("app", "sleep 0.2")],
    };
    const web = await running(spec, "mesh");
    await tells(web, "restarting mesh", "restarting app");
    await eventually(() => expect(starts(web, "mesh") > 1 && starts(web, "app") > 1).toBe(true));
  });

  test("is started again later and later", async () => {
    const web = await running({ containers: [container("app", "echo up; sleep 0.2")] }, "app");
    const delays = () => web.events.filter(({ what }) => what === "restarting").map(({ detail }) => detail);
    await eventually(() => expect(delays()).toEqual(["in 500 ms", "in 10000 ms"]));
    await web.remove();
  });

  test("is not started again while the Pod ends", async () => {
    const [mesh, hook] = [scriptGate(), scriptGate()];
    const spec = {
      initContainers: [sidecar("mesh", `echo up; ${mesh.wait}; echo done`)],
      containers: [container("app", OBEDIENT, execHook(hook.wait))],
    };
    const web = await running(spec, "mesh", "app");
    const ending = web.remove();
    mesh.open();
    await tells(web, "mesh: done");
    await pause(1_000, "twice the time after which it would be started again");
    hook.open();
    await ending;
    expect(starts(web, "mesh")).toBe(1);
  });

  test("completes a Pod that does not restart: the sidecar's hook runs, then it is signalled", async () => {
    const job = scriptGate();
    const spec = {
      restartPolicy: "Never",
      initContainers: [sidecar("mesh", OBEDIENT, execHook("echo hooked"))],
      containers: [container("job", job.wait)],
    };
    const web = await running(spec, "mesh");
    job.open();
    await web.gone;
    // What a process has written may be read after its end.
    await tells(web, "mesh: hooked");
    expect(story(web).filter(isOfRunner).slice(-5)).toEqual([
      "hook-started mesh",
      "hook-ended mesh",
      "SIGTERM mesh",
      "exited mesh",
      "gone",
    ]);
    expect(starts(web, "job")).toBe(1);
  });
});

describe("the life of a Pod", () => {
  test("begins with init containers in order, each one to its end, sidecars staying", async () => {
    const migration = scriptGate();
    const spec = {
      initContainers: [sidecar("mesh", OBEDIENT), container("migrate", `sleep 0.2; ${migration.openIt}`)],
      containers: [container("app", `${migration.isOpen} && echo migrated; ${OBEDIENT}`)],
    };
    const web = await running(spec, "mesh", "app");
    expect(story(web).filter(isOfRunner).slice(0, 3)).toEqual(["started mesh", "started migrate", "started app"]);
    expect(story(web)).toContain("app: migrated");
    expect(web.isRunning("mesh")).toBe(true);
  });

  test("does not begin when an init container fails", async () => {
    const spec = { initContainers: [container("migrate", "exit 2")], containers: [container("app", OBEDIENT)] };
    await expect(runner.start(pod(spec))).rejects.toThrow("init container migrate of Pod web failed");
  });

  test("goes on when a liveness probe fails: one container's hook, stop and restart, and no deletion", async () => {
    const spec = {
      containers: [
        container("app", OBEDIENT, execHook("echo hooked")),
        container("other", OBEDIENT, execHook("echo no")),
      ],
    };
    const web = await running(spec, "app", "other");
    await web.restart("app");
    await eventually(() => expect(starts(web, "app")).toBe(2));
    await tells(web, "app: hooked");
    expect(story(web)).not.toContain("other: no");
    expect(story(web)).not.toContain("deleted");
  });

  test("is Ready when its probe succeeds, and no longer when it fails, in its period and while it ends too", async () => {
    const answers = { status: 503 };
    const probes = { count: 0 };
    const server = createServer((_request, response) => {
      probes.count += 1;
      response.writeHead(answers.status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const readinessProbe = { httpGet: { host: "127.0.0.1", port, path: "/" }, periodSeconds: 1 };
    const hook = scriptGate();
    const spec = { containers: [container("app", OBEDIENT, { readinessProbe, ...execHook(hook.wait) })] };
    const web = await running(spec, "app");
    expect(web.isReady()).toBe(false);
    answers.status = 204;
    await tells(web, "ready");
    const ending = web.remove();
    answers.status = 500;
    await tells(web, "unready");
    // Once a second, and never as often as before the first success.
    const { count } = probes;
    const fromMs = performance.now();
    await eventually(() => expect(probes.count - count).toBeGreaterThan(1));
    expect(performance.now() - fromMs).toBeGreaterThan(950);
    expect(story(web)).not.toContain("hook-ended app");
    hook.open();
    await ending;
    server.close();
  });
});

/** Not a line that a container wrote. */
function isOfRunner(line: string): boolean {
  return !line.includes(": ");
}

function starts(web: RunningPod, name: string): number {
  return story(web).filter((line) => line === `started ${name}`).length;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
