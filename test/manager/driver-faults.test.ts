/**
 * What goes wrong around a proxy in the middle of a drain: 27 faults that shutdown managers met, each with the cases that
 * play it, wherever those are. The list is held against the files, so that no case vanishes unnoticed.
 */
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

/** The title of a case as its file writes it; a golden case is its folder. */
type Played = { readonly file: string; readonly title: string } | { readonly golden: string };

const FAULTS: readonly { readonly fault: string; readonly played: readonly Played[] }[] = [
  {
    fault: "the admin interface refuses from the start",
    played: [{ file: DRIVER, title: "that is not there leaves the sockets to decide" }],
  },
  {
    fault: "the admin interface hangs",
    played: [
      { file: DRIVER, title: "that hangs is waited for to the deadline: traffic may still flow" },
      { file: DRIVER, title: "that answers late is told as soon as it answers" },
      {
        file: "test/manager/envoy-unix-socket.test.ts",
        title: "that accepts and says nothing is waited for to the deadline",
      },
    ],
  },
  { fault: "the admin interface fails twice", played: [{ file: DRIVER, title: "is told again when it fails twice" }] },
  {
    fault: "the statistics are empty",
    played: [{ file: DRIVER, title: "whose statistics are $says leaves the sockets to decide" }],
  },
  {
    fault: "the statistics only have the admin interface, threads and internal listeners",
    played: [
      { file: DRIVER, title: "its own and internal listeners" },
      { file: STATS, title: "are summed over listeners, without the threads' repetitions and its own interface" },
    ],
  },
  {
    fault: "a listener is named like the admin interface",
    played: [{ file: STATS, title: "a name that has admin in it" }],
  },
  {
    fault: "a stream stays open for twice the drain timeout",
    played: [
      { file: DRIVER, title: "is waited for to the deadline while a stream stays, and the report says how many" },
    ],
  },
  {
    fault: "an idle kept connection never closes",
    played: [
      { file: DRIVER, title: "keeps an idle connection for the quiet period and no longer" },
      { file: HERE, title: "an idle connection that never closes ends a drain by connections at its deadline only" },
    ],
  },
  { fault: "TCP is passed through", played: [{ file: DRIVER, title: "a TCP session beside idle HTTP" }] },
  { fault: "a UDP session stays", played: [{ file: DRIVER, title: "waits for a UDP session" }] },
  {
    fault: "a hook comes twice or three times",
    played: [{ file: DRIVER, title: "is told once by any number of hooks, and by those that hang up" }],
  },
  {
    fault: "the connection of a hook is dropped",
    played: [
      { file: DRIVER, title: "is told once by any number of hooks, and by those that hang up" },
      { file: MACHINE, title: "a caller that vanishes changes nothing for the others" },
    ],
  },
  {
    fault: "a hook comes in a Pod that is not deleted",
    played: [
      { file: DRIVER, title: "hears nothing when one container is restarted" },
      { file: DRAIN, title: "passes its health checks again, and what cannot be taken back is said" },
    ],
  },
  {
    fault: "the manager is killed in the middle of a drain",
    played: [
      { file: CRASHES, title: "lets go of its own hook and of the app's at once" },
      {
        file: CRASHES,
        title: "is replaced by one that begins again: a late hook alone is a restart, and the end is found again",
      },
    ],
  },
  {
    fault: "Envoy is restarted in the middle of a drain",
    played: [
      { file: DRIVER, title: "that was started again in the drain is told again" },
      { file: DRAIN, title: "ends no drain: its clients come back" },
      {
        file: "test/programs/envoy/restart.program.ts",
        title: "that was started again in its drain is told again, and its new clients are waited for",
      },
    ],
  },
  {
    fault: "no one can tell whether the Pod is out of rotation",
    played: [
      {
        file: MACHINE,
        title: "a relay that falls silent holds no one up any longer, and its hold was part of the withdrawal",
      },
    ],
  },
  {
    fault: "the Pod is in two slices, one of them late",
    played: [
      {
        file: "test/kubernetes/rotation/laws.test.ts",
        title: "splitting a slice into one slice per endpoint does not change the result",
      },
    ],
  },
  {
    fault: "the Pod is in no Service",
    played: [
      {
        file: "test/relay/slices/slice-watches.test.ts",
        title: "whose Pod no Service offers is told so, once the slices are read",
      },
    ],
  },
  {
    fault: "the root file system is read-only and the user is not root",
    played: [
      { golden: "restricted-pod-security" },
      {
        file: "e2e/cases/pod-shapes.e2e.ts",
        title: "with a root no one can write takes a debugging container, and is drained all the same",
      },
    ],
  },
  { fault: "the Pod shares its process namespace", played: [{ golden: "share-process-namespace" }] },
  { fault: "the Pod has the node's network", played: [{ golden: "host-network" }] },
  {
    fault: "the drain timeout is below a second",
    played: [
      { golden: "grace-rounded-up" },
      { file: HERE, title: "a drain timeout of 400 ms is neither none nor a second" },
    ],
  },
  {
    fault: "SIGTERM comes before any hook",
    played: [
      { file: MACHINE, title: "without a hook and with traffic uses what time a native sidecar has" },
      { file: MACHINE, title: "lets an idle manager with nothing open leave at once" },
    ],
  },
  { fault: "the wall clock jumps", played: [{ file: HERE, title: "no file of the manager reads the wall clock" }] },
  {
    fault: "Envoy has a thousand listeners",
    played: [{ file: DRIVER, title: "with a thousand listeners costs the manager little memory" }],
  },
  {
    fault: "the manager gets hardly any processor time",
    played: [
      { file: MACHINE, title: "every app is released by the deadline, and no late tick moves the deadline" },
      { file: "test/manager/stalled-manager.test.ts", title: "for %i ms answers the hook that came meanwhile" },
    ],
  },
  {
    fault: "a rollout under load",
    played: [
      {
        file: "e2e/cases/rollout.e2e.ts",
        title: "with clients that never leave, when the app can send them away",
      },
      {
        file: "test/demo/demo.test.ts",
        title: "the user's own Deployment loses no request, and --svg writes an image",
      },
    ],
  },
];

test("every fault has its cases, and every case is where the list says", () => {
  expect(FAULTS).toHaveLength(27);
  const absent = FAULTS.flatMap(({ played }) => played).filter((one) => !isThere(one));
  expect(absent).toEqual([]);
  expect(FAULTS.filter(({ played }) => played.length === 0)).toEqual([]);
});

function isThere(played: Played): boolean {
  if ("golden" in played) return existsSync(join(ROOT, "test/golden", played.golden, "input.yaml"));
  // This file names every title once in its list; its own cases have to be there besides.
  const text = readFileSync(join(ROOT, played.file), "utf8").split("\nfunction isThere")[played.file === HERE ? 1 : 0];
  return text?.includes(JSON.stringify(played.title)) ?? false;
}

const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy" };
const END = [hook(100, 1), ownHook(110, 2)];

describe("a drain with a proxy", () => {
  test("an idle connection that never closes ends a drain by connections at its deadline only", () => {
    const played = play({
      settings: { ...ENVOY, drainedWhen: "connections", drainTimeoutMs: 10_000 },
      events: END,
      pod: () => ({ ...QUIET, openConnections: 1, leftTotal: 1 }),
      active: () => 0,
    });
    expect(played.state.outcome).toBe("timeout");
    expect(played.answered.get(1)).toBe(110 + 5_000 + 10_000);
  });

  test("a drain timeout of 400 ms is neither none nor a second", () => {
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
