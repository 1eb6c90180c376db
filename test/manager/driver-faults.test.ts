/** Lists 27 faults of proxies during a drain with the tests that cover each, and checks that these tests exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { hook, ONE_APP, ownHook, play, QUIET } from "./drain-script.ts";

const ROOT = join(import.meta.dirname, "../..");

const DRIVER = "test/manager/envoy-driver.test.ts";
const STATS = "test/manager/envoy-stats.test.ts";
const DRAIN = "test/manager/envoy-drain.test.ts";
const MACHINE = "test/manager/drain-machine.test.ts";
const CRASHES = "test/manager/manager-crashes.test.ts";
const HERE = "test/manager/driver-faults.test.ts";

/** A test title as in its file, or the folder of a golden case. */
type Played = { readonly file: string; readonly title: string } | { readonly golden: string };

const FAULTS: readonly { readonly fault: string; readonly played: readonly Played[] }[] = [
  {
    fault: "the admin interface refuses from the start",
    played: [{ file: DRIVER, title: "falls back to samples of sockets without Envoy" }],
  },
  {
    fault: "the admin interface hangs",
    played: [
      { file: DRIVER, title: "waits until the deadline for an Envoy that hangs, because traffic may still flow" },
      { file: DRIVER, title: "starts the drain of a slow Envoy at its first response" },
      {
        file: "test/manager/envoy-unix-socket.test.ts",
        title: "that accepts and never responds delays the drain until the deadline",
      },
    ],
  },
  { fault: "the admin interface fails twice", played: [{ file: DRIVER, title: "repeats a call that failed twice" }] },
  {
    fault: "the statistics are empty",
    played: [{ file: DRIVER, title: "falls back to samples of sockets if the statistics contain $title" }],
  },
  {
    fault: "the statistics only have the admin interface, threads and internal listeners",
    played: [
      { file: DRIVER, title: "only Envoy's own and internal listeners" },
      { file: STATS, title: "are summed over listeners, excluding per-thread lines and the admin interface" },
    ],
  },
  {
    fault: "a listener is named like the admin interface",
    played: [{ file: STATS, title: "a name that contains admin" }],
  },
  {
    fault: "a stream stays open for twice the drain timeout",
    played: [{ file: DRIVER, title: "waits until the deadline while streams are open, and reports their number" }],
  },
  {
    fault: "an idle kept-alive connection never closes",
    played: [
      { file: DRIVER, title: "waits for an idle connection for the quiet period only" },
      {
        file: HERE,
        title: "an idle connection that stays open delays a drain with drained-when connections until the deadline",
      },
    ],
  },
  { fault: "TCP is passed through", played: [{ file: DRIVER, title: "a TCP session besides idle HTTP" }] },
  { fault: "a UDP session stays", played: [{ file: DRIVER, title: "waits for a UDP session" }] },
  {
    fault: "a hook comes twice or three times",
    played: [{ file: DRIVER, title: "starts Envoy's drain once for any number of hooks, disconnected ones included" }],
  },
  {
    fault: "the connection of a hook is dropped",
    played: [
      { file: DRIVER, title: "starts Envoy's drain once for any number of hooks, disconnected ones included" },
      { file: MACHINE, title: "are not affected by other callers that disconnect" },
    ],
  },
  {
    fault: "a hook comes in a Pod that is not deleted",
    played: [
      { file: DRIVER, title: "does not call Envoy when one container restarts" },
      { file: DRAIN, title: "passes its health checks again, and a drain that cannot be reverted is reported" },
    ],
  },
  {
    fault: "the manager is killed in the middle of a drain",
    played: [
      { file: CRASHES, title: "releases its own hook and the app's immediately" },
      {
        file: CRASHES,
        title: "is replaced by one that treats a late hook as a restart and drains at the next trigger",
      },
    ],
  },
  {
    fault: "Envoy is restarted in the middle of a drain",
    played: [
      { file: DRIVER, title: "starts the drain again after a restart of Envoy" },
      { file: DRAIN, title: "does not end a drain, because its clients reconnect" },
      {
        file: "test/programs/envoy/restart.program.ts",
        title: "that restarts during its drain is drained again, and the drain waits for its new clients",
      },
    ],
  },
  {
    fault: "the withdrawal of the Pod is unknown",
    played: [
      {
        file: MACHINE,
        title: "stops waiting for the withdrawal when the relay stops responding, and reports the wait as withdrawing",
      },
    ],
  },
  {
    fault: "the Pod is in two slices, one of them late",
    played: [
      {
        file: "test/kubernetes/rotation/properties.test.ts",
        title: "the rotation of a Pod is the same after a split into one EndpointSlice per endpoint",
      },
    ],
  },
  {
    fault: "the Pod is in no Service",
    played: [
      {
        file: "test/relay/slices/slice-watches.test.ts",
        title: "receives that no Service selects its Pod, once the EndpointSlices are read",
      },
    ],
  },
  {
    fault: "the root file system is read-only and the user is not root",
    played: [
      { golden: "restricted-pod-security" },
      {
        file: "e2e/cases/pod-shapes.e2e.ts",
        title: "with a read-only root file system accepts an ephemeral container, and drains",
      },
    ],
  },
  { fault: "the Pod shares its process namespace", played: [{ golden: "share-process-namespace" }] },
  { fault: "the Pod has the node's network", played: [{ golden: "host-network" }] },
  {
    fault: "the drain timeout is below a second",
    played: [{ golden: "grace-rounded-up" }, { file: HERE, title: "a drain timeout of 400 ms is not rounded" }],
  },
  {
    fault: "SIGTERM comes before any hook",
    played: [
      { file: MACHINE, title: "without a hook and with traffic starts a drain within the time of a native sidecar" },
      { file: MACHINE, title: "ends an idle manager without connections immediately" },
    ],
  },
  { fault: "the wall clock jumps", played: [{ file: HERE, title: "no file of the manager reads the wall clock" }] },
  {
    fault: "Envoy has a thousand listeners",
    played: [{ file: DRIVER, title: "needs little memory for a thousand listeners" }],
  },
  {
    fault: "the manager gets hardly any processor time",
    played: [
      { file: MACHINE, title: "every app is released by the deadline, which late ticks do not move" },
      { file: "test/manager/stalled-manager.test.ts", title: "for %i ms answers the hook that arrived meanwhile" },
    ],
  },
  {
    fault: "a rollout under load",
    played: [
      {
        file: "e2e/cases/rollout.e2e.ts",
        title: "with endless clients, when the app can disconnect them",
      },
      {
        file: "test/demo/demo.test.ts",
        title: "the user's own Deployment loses no request, and --svg writes an image",
      },
    ],
  },
];

test("every fault has tests, and every listed test exists", () => {
  expect(FAULTS).toHaveLength(27);
  const absent = FAULTS.flatMap(({ played }) => played).filter((one) => !isThere(one));
  expect(absent).toEqual([]);
  expect(FAULTS.filter(({ played }) => played.length === 0)).toEqual([]);
});

function isThere(played: Played): boolean {
  if ("golden" in played) return existsSync(join(ROOT, "test/golden", played.golden, "input.yaml"));
  // The list above contains every title, so this file's own tests are searched below it.
  const text = readFileSync(join(ROOT, played.file), "utf8").split("\nfunction isThere")[played.file === HERE ? 1 : 0];
  return text?.includes(JSON.stringify(played.title)) ?? false;
}

const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy" };
const END = [hook(100, 1), ownHook(110, 2)];

describe("a drain with a proxy", () => {
  test("an idle connection that stays open delays a drain with drained-when connections until the deadline", () => {
    const played = play({
      settings: { ...ENVOY, drainedWhen: "connections", drainTimeoutMs: 10_000 },
      events: END,
      pod: () => ({ ...QUIET, openConnections: 1, leftTotal: 1 }),
      active: () => 0,
    });
    expect(played.state.outcome).toBe("timeout");
    expect(played.answered.get(1)).toBe(110 + 5_000 + 10_000);
  });

  test("a drain timeout of 400 ms is not rounded", () => {
    const settings: DrainSettings = { ...ENVOY, drainDelayMs: 0, drainTimeoutMs: 400 };
    const played = play({ settings, events: END, pod: () => ({ ...QUIET, openConnections: 1 }), active: () => 1 });
    expect(played.state.outcome).toBe("timeout");
    expect(played.answered.get(1)).toBe(110 + 400);
  });

  test("no file of the manager reads the wall clock", () => {
    const folder = join(ROOT, "src/manager");
    const readers = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .filter((name) => /\bDate\b\s*[.(]|new Date\b/.test(readFileSync(join(folder, name), "utf8")));
    expect(readers).toEqual([]);
  });
});
