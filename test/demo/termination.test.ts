import { expect, test } from "vitest";
import { type StoppingContainer, type TerminationEvent, terminate } from "../../src/demo/pods/termination.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";

type Script = {
  readonly sidecar?: boolean;
  readonly hookMs?: number;
  readonly hookFails?: string;
  /** Time from the stop signal to the exit; a container without this field ignores the signal. */
  readonly exitsAfterMs?: number;
};

/** Runs scripted containers and records events as `time type container`. */
function scriptContainers(scripts: Readonly<Record<string, Script>>) {
  const clock = createVirtualClock();
  const eventLines: string[] = [];
  const recordEvent = (event: TerminationEvent) => eventLines.push(`${clock.nowMs()} ${event.type} ${event.container}`);
  const containers = Object.entries(scripts).map(([name, script]) => scriptedContainer(name, script, clock));
  const terminateAll = async (graceSeconds: number) => {
    await clock.runUntil(terminate({ containers, graceSeconds, clock, recordEvent }));
    return eventLines;
  };
  return { terminateAll, eventLines };
}

function scriptedContainer(name: string, script: Script, clock: VirtualClock): StoppingContainer {
  let running = true;
  let exit = () => {};
  const exited = new Promise<void>((resolve) => {
    exit = () => {
      running = false;
      resolve();
    };
  });
  const { hookMs, hookFails, exitsAfterMs } = script;
  return {
    name,
    isSidecar: script.sidecar ?? false,
    isRunning: () => running,
    exited,
    signal: (signal) => {
      if (signal === "SIGKILL") exit();
      else if (exitsAfterMs !== undefined) void clock.wait(exitsAfterMs).then(exit);
    },
    ...(hookFails === undefined ? {} : { runHook: () => Promise.reject(new Error(hookFails)) }),
    ...(hookMs === undefined ? {} : { runHook: () => clock.wait(hookMs) }),
  };
}

test("all hooks of a deleted Pod start at the same time, including the hooks of sidecars", async () => {
  const eventLines = await scriptContainers({
    mesh: { sidecar: true, hookMs: 10, exitsAfterMs: 0 },
    app: { hookMs: 4_000, exitsAfterMs: 0 },
    web: { hookMs: 2_000, exitsAfterMs: 0 },
  }).terminateAll(30);
  expect(eventLines.filter((line) => line.includes("hook-started"))).toEqual([
    "0 hook-started mesh",
    "0 hook-started app",
    "0 hook-started web",
  ]);
});

test("a container without a hook gets its stop signal immediately", async () => {
  const eventLines = await scriptContainers({
    app: { hookMs: 5_000, exitsAfterMs: 0 },
    plain: { exitsAfterMs: 0 },
  }).terminateAll(30);
  expect(eventLines).toContain("0 SIGTERM plain");
  expect(eventLines).toContain("5000 SIGTERM app");
});

test("sidecars get their stop signal after every regular container has exited, in reverse order", async () => {
  const eventLines = await scriptContainers({
    first: { sidecar: true, exitsAfterMs: 100 },
    second: { sidecar: true, exitsAfterMs: 100 },
    app: { hookMs: 3_000, exitsAfterMs: 500 },
  }).terminateAll(30);
  expect(eventLines.filter((line) => line.includes("SIGTERM"))).toEqual([
    "3000 SIGTERM app",
    "3500 SIGTERM second",
    "3600 SIGTERM first",
  ]);
});

test("all containers get their stop signal if a hook outlasts the grace period, and are killed 2 s later", async () => {
  const eventLines = await scriptContainers({ mesh: { sidecar: true }, app: { hookMs: 60_000 } }).terminateAll(6);
  expect(eventLines).toContain("6000 SIGTERM app");
  expect(eventLines).toContain("6000 SIGTERM mesh");
  expect(eventLines).toContain("8000 SIGKILL app");
  expect(eventLines).toContain("8000 SIGKILL mesh");
});

test("a hook uses whole seconds of the grace period", async () => {
  const eventLines = await scriptContainers({ app: { hookMs: 3_900 } }).terminateAll(10);
  expect(eventLines).toContain("3900 SIGTERM app");
  expect(eventLines).toContain("10900 SIGKILL app");
});

test("a container gets its stop signal immediately if its hook fails", async () => {
  const eventLines = await scriptContainers({ app: { hookFails: "connection refused", exitsAfterMs: 0 } }).terminateAll(
    30,
  );
  expect(eventLines).toEqual(["0 hook-started app", "0 FailedPreStopHook app", "0 SIGTERM app", "0 exited app"]);
});

test("a Pod with a grace period of zero does not run a hook, and gets SIGKILL after 2 s", async () => {
  const eventLines = await scriptContainers({ app: { hookMs: 1_000 } }).terminateAll(0);
  expect(eventLines).toEqual(["0 SIGTERM app", "2000 SIGKILL app", "2000 exited app"]);
});

test("a container that exits during its hook does not get a stop signal", async () => {
  const clock = createVirtualClock();
  const eventLines: string[] = [];
  const app = scriptedContainer("app", { hookMs: 5_000, exitsAfterMs: 0 }, clock);
  app.signal("SIGTERM");
  const work = terminate({
    containers: [app],
    graceSeconds: 30,
    clock,
    recordEvent: (event) => eventLines.push(event.type),
  });
  await clock.runUntil(work);
  expect(eventLines).toEqual(["hook-started", "hook-ended", "exited"]);
});
