/** Lists 27 faults of proxies during a drain with the tests that cover each, and checks that these tests exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { hook, ONE_APP, ownHook, play, QUIET } from "./drain-script.ts";

const ROOT = join(import.meta.dirname, "../..");

const DRIVER_TESTS = "test/manager/envoy-driver.test.ts";
const STATS_TESTS = "test/manager/envoy-stats.test.ts";
const DRAIN_TESTS = "test/manager/envoy-drain.test.ts";
const MACHINE_TESTS = "test/manager/drain-machine.test.ts";
const CRASH_TESTS = "test/manager/manager-crashes.test.ts";
const THIS_FILE = "test/manager/driver-faults.test.ts";

/** A test title as in its file, or the folder of a golden case. */
type TestReference = { readonly file: string; readonly title: string } | { readonly goldenFolder: string };

const FAULTS: readonly { readonly fault: string; readonly tests: readonly TestReference[] }[] = [
  {
    fault: "the admin interface refuses from the start",
    tests: [{ file: DRIVER_TESTS, title: "falls back to samples of sockets if Envoy is not running" }],
  },
  {
    fault: "the admin interface hangs",
    tests: [
      {
        file: DRIVER_TESTS,
        title: "delays the end of a drain until the deadline if Envoy hangs, because traffic can still flow",
      },
      { file: DRIVER_TESTS, title: "sends a slow Envoy the drain request at its first response" },
      {
        file: "test/manager/envoy-unix-socket.test.ts",
        title: "that accepts connections and never responds delays the drain until the deadline",
      },
    ],
  },
  {
    fault: "the admin interface fails twice",
    tests: [{ file: DRIVER_TESTS, title: "repeats a drain request that failed twice" }],
  },
  {
    fault: "the statistics are empty",
    tests: [{ file: DRIVER_TESTS, title: "falls back to samples of sockets if Envoy's statistics contain $title" }],
  },
  {
    fault: "the statistics only have the admin interface, threads and internal listeners",
    tests: [
      { file: DRIVER_TESTS, title: "only Envoy's own and internal listeners" },
      {
        file: STATS_TESTS,
        title: "are sums over all listeners except the admin interface, without the statistics of single threads",
      },
    ],
  },
  {
    fault: "a listener is named like the admin interface",
    tests: [{ file: STATS_TESTS, title: "a name that contains admin" }],
  },
  {
    fault: "a stream stays open for twice the drain timeout",
    tests: [
      {
        file: DRIVER_TESTS,
        title: "delays the end of a drain until the deadline while streams are open, and reports their number",
      },
    ],
  },
  {
    fault: "an idle keep-alive connection never closes",
    tests: [
      { file: DRIVER_TESTS, title: "delays the end of a drain by one quiet period if an idle connection is open" },
      {
        file: THIS_FILE,
        title: "an idle connection delays a drain until the deadline if `drained-when` is `connections`",
      },
    ],
  },
  {
    fault: "TCP is passed through",
    tests: [{ file: DRIVER_TESTS, title: "a TCP session beside an idle HTTP connection" }],
  },
  {
    fault: "a UDP session stays",
    tests: [
      {
        file: DRIVER_TESTS,
        title: "delays the end of a drain while datagrams arrive, and not for the idle UDP session afterwards",
      },
    ],
  },
  {
    fault: "a hook comes twice or three times",
    tests: [
      {
        file: DRIVER_TESTS,
        title: "sends Envoy one drain request for any number of hooks, including disconnected callers",
      },
    ],
  },
  {
    fault: "the connection of a hook is dropped",
    tests: [
      {
        file: DRIVER_TESTS,
        title: "sends Envoy one drain request for any number of hooks, including disconnected callers",
      },
      { file: MACHINE_TESTS, title: "is not changed by another caller that disconnects" },
    ],
  },
  {
    fault: "a hook comes in a Pod that is not deleted",
    tests: [
      { file: DRIVER_TESTS, title: "does not send Envoy a request when one container restarts" },
      {
        file: DRAIN_TESTS,
        title:
          "whose Pod continues after a drain passes its health checks again, and the log reports listeners that stay drained",
      },
    ],
  },
  {
    fault: "the manager is killed in the middle of a drain",
    tests: [
      {
        file: CRASH_TESTS,
        title: "closes the connections of its own hook and the app's hook if SIGKILL ends it during a drain",
      },
      {
        file: CRASH_TESTS,
        title: "is replaced by a manager that treats a late hook as a container restart and drains at the next trigger",
      },
    ],
  },
  {
    fault: "Envoy is restarted in the middle of a drain",
    tests: [
      { file: DRIVER_TESTS, title: "sends the drain request again after a restart of Envoy" },
      { file: DRAIN_TESTS, title: "does not end the drain if it is short, because the clients reconnect" },
      {
        file: "test/programs/envoy/restart.program.ts",
        title:
          "that restarts during its drain gets the drain request again, and the drain lasts until its clients leave",
      },
    ],
  },
  {
    fault: "the withdrawal of the Pod is unknown",
    tests: [
      {
        file: MACHINE_TESTS,
        title:
          "stops waiting for the withdrawal when the relay stops responding, and reports the waiting time as `withdrawing`",
      },
    ],
  },
  {
    fault: "the Pod is in two slices, one of them late",
    tests: [
      {
        file: "test/kubernetes/endpoints/properties.test.ts",
        title: "the endpoint state of a Pod is the same after a split into one EndpointSlice per endpoint",
      },
    ],
  },
  {
    fault: "the Pod is in no Service",
    tests: [
      {
        file: "test/relay/slices/slice-watches.test.ts",
        title: "is notified that no Service selects its Pod, once the EndpointSlices are read",
      },
    ],
  },
  {
    fault: "the root file system is read-only and the user is not root",
    tests: [
      { goldenFolder: "restricted-pod-security" },
      {
        file: "e2e/cases/pod-shapes.e2e.ts",
        title: "with a read-only root file system accepts an ephemeral container, and drains",
      },
    ],
  },
  { fault: "the Pod shares its process namespace", tests: [{ goldenFolder: "share-process-namespace" }] },
  { fault: "the Pod has the node's network", tests: [{ goldenFolder: "host-network" }] },
  {
    fault: "the drain timeout is below a second",
    tests: [
      { goldenFolder: "grace-rounded-up" },
      { file: THIS_FILE, title: "a drain timeout of 400 ms ends the drain after exactly 400 ms" },
    ],
  },
  {
    fault: "SIGTERM comes before any hook",
    tests: [
      {
        file: MACHINE_TESTS,
        title: "starts a drain within the grace period of a native sidecar if traffic flows and no hook was called",
      },
      { file: MACHINE_TESTS, title: "stops an idle manager immediately if no connection is open" },
    ],
  },
  {
    fault: "the wall clock jumps",
    tests: [
      {
        file: THIS_FILE,
        title: "a jump of the wall clock is harmless, because no file of the manager reads that clock",
      },
    ],
  },
  {
    fault: "Envoy has a thousand listeners",
    tests: [{ file: DRIVER_TESTS, title: "uses little memory for the statistics of a thousand listeners" }],
  },
  {
    fault: "the manager gets hardly any processor time",
    tests: [
      { file: MACHINE_TESTS, title: "every app's hook is answered by the deadline, even if timers fire late" },
      {
        file: "test/manager/stalled-manager.test.ts",
        title: "for %i ms answers the hook that arrived in this time",
      },
    ],
  },
  {
    fault: "a rollout under load",
    tests: [
      {
        file: "e2e/cases/rollout.e2e.ts",
        title: "with endless clients if the app can disconnect the clients",
      },
      {
        file: "test/demo/demo.test.ts",
        title: "does not lose a request of the user's own Deployment, and writes an image with --svg",
      },
    ],
  },
];

test("every fault in the list of this file has tests, and each of these tests exists", () => {
  expect(FAULTS).toHaveLength(27);
  const missingTests = FAULTS.flatMap(({ tests }) => tests).filter((one) => !testExists(one));
  expect(missingTests).toEqual([]);
  expect(FAULTS.filter(({ tests: reference }) => reference.length === 0)).toEqual([]);
});

function testExists(reference: TestReference): boolean {
  if ("goldenFolder" in reference) return existsSync(join(ROOT, "test/golden", reference.goldenFolder, "input.yaml"));
  // The list above contains every title, so this file is searched only below the list.
  const text = readFileSync(join(ROOT, reference.file), "utf8").split("\nfunction testExists")[
    reference.file === THIS_FILE ? 1 : 0
  ];
  return text?.includes(JSON.stringify(reference.title)) ?? false;
}

const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy" };
const TERMINATION = [hook(100, 1), ownHook(110, 2)];

describe("in a drain with a proxy", () => {
  test("an idle connection delays a drain until the deadline if `drained-when` is `connections`", () => {
    const drain = play({
      settings: { ...ENVOY, drainedWhen: "connections", drainTimeoutMs: 10_000 },
      events: TERMINATION,
      pod: () => ({ ...QUIET, openConnections: 1, leftTotal: 1 }),
      active: () => 0,
    });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drain.answerTimesMs.get(1)).toBe(110 + 5_000 + 10_000);
  });

  test("a drain timeout of 400 ms ends the drain after exactly 400 ms", () => {
    const settings: DrainSettings = { ...ENVOY, drainDelayMs: 0, drainTimeoutMs: 400 };
    const drain = play({
      settings,
      events: TERMINATION,
      pod: () => ({ ...QUIET, openConnections: 1 }),
      active: () => 1,
    });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drain.answerTimesMs.get(1)).toBe(110 + 400);
  });

  test("a jump of the wall clock is harmless, because no file of the manager reads that clock", () => {
    const folder = join(ROOT, "src/manager");
    const filesWithDate = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .filter((name) => /\bDate\b\s*[.(]|new Date\b/.test(readFileSync(join(folder, name), "utf8")));
    expect(filesWithDate).toEqual([]);
  });
});
