/** Tests the rules for hooks: calls without the manager's own hook, restarts, Pods that run to completion. */
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { outcomeOf } from "../../src/manager/drain/drain-report-of.ts";
import { hook, ONE_APP, ownHook, type PlayedDrain, play, QUIET } from "./drain-script.ts";

const PROXY = { container: "proxy", role: "mesh-proxy" } as const;
const TWO_APPS_AND_PROXY: DrainSettings = {
  ...ONE_APP,
  hooks: [...ONE_APP.hooks, { container: "web", role: "app" }, PROXY],
};
const clientDisconnected = (nowMs: number, holdId: number): DrainEvent => ({
  kind: "client-disconnected",
  nowMs,
  holdId,
});
const answerTimes = (events: readonly DrainEvent[], settings = TWO_APPS_AND_PROXY): readonly (number | undefined)[] => {
  const drain = play({ settings, events });
  return events.flatMap((event) => (event.kind === "hook-called" ? [drain.answerTimesMs.get(event.holdId)] : []));
};
const restartsOf = ({ actions }: PlayedDrain) =>
  actions.flatMap((action) =>
    action.kind === "entered" && outcomeOf(action.enteredState.phase) === "restarted" ? [action.atMs] : [],
  );

describe("preStop hooks without the manager's own hook", () => {
  test.for([
    [
      "are answered after 15 s if the hooks of two containers are called within a second",
      [hook(0, 1), hook(1_000, 2, "web")],
      [15_000, 16_000],
    ],
    [
      "are answered after 5 s if the hooks of two containers are called more than a second apart",
      [hook(0, 1), hook(1_001, 2, "web")],
      [5_000, 6_001],
    ],
    ["are answered after 5 s if the hook of one container is called twice", [hook(0, 1), hook(500, 2)], [5_000, 5_500]],
    [
      "are answered after 15 s if the hooks of the app and the mesh proxy are called within a second",
      [hook(0, 1), hook(500, 2, "proxy")],
      [15_000, 15_500],
    ],
    [
      "are answered after 15 s if the first of two callers has disconnected",
      [hook(0, 1), clientDisconnected(10, 1), hook(500, 2, "web")],
      [undefined, 15_500],
    ],
    [
      "are answered after 15 s if a third container's hook is called within a second after the second container's",
      [hook(0, 1), hook(900, 2, "web"), hook(1_800, 3, "proxy")],
      [15_000, 15_900, 16_800],
    ],
  ] as const)("%s", ([, events, times]) => {
    expect(answerTimes(events)).toEqual(times);
  });
});

describe("a container restart", () => {
  test.for([
    ["once for one call", [hook(0, 1)], [5_000]],
    ["once for two calls of a container, when the first call is answered", [hook(0, 1), hook(4_000, 2)], [5_000]],
    ["again for a call after the report of the first restart", [hook(0, 1), hook(5_500, 2)], [5_000, 10_500]],
    ["for each of two containers", [hook(0, 1), hook(3_000, 2, "web")], [5_000, 8_000]],
    ["even if the client has disconnected", [hook(0, 1), clientDisconnected(10, 1)], [5_000]],
  ] as const)("is reported %s", ([, events, times]) => {
    const drain = play({ settings: TWO_APPS_AND_PROXY, events });
    expect(restartsOf(drain)).toEqual(times);
    expect(drain.summary).toMatchObject({ phase: "idle", holds: [], endingContainers: [] });
  });
});

describe("in a Pod that runs to completion", () => {
  const JOB: DrainSettings = { ...ONE_APP, completes: true, hooks: [...ONE_APP.hooks, PROXY] };
  const outcomeAndTime = (events: readonly DrainEvent[], settings = JOB) => {
    const { summary, answerTimesMs } = play({ settings, events, pod: () => ({ ...QUIET, openConnections: 1 }) });
    return [summary.outcome, answerTimesMs.get(9)];
  };

  test("apps count as finished if no app's hook is called within two seconds after the manager's own hook", () => {
    expect(outcomeAndTime([ownHook(100, 9)])).toEqual(["not-needed", 2_100]);
  });

  test("the proxy's hook does not count as an app's hook, and is answered together with the manager's own hook", () => {
    const events = [ownHook(100, 9), hook(150, 1, "proxy")];
    expect(outcomeAndTime(events)).toEqual(["not-needed", 2_100]);
    expect(answerTimes(events, JOB)).toEqual([2_100]);
  });

  test.for([
    ["before", [hook(50, 1), ownHook(100, 9)]],
    ["after", [ownHook(100, 9), hook(1_900, 1)]],
    ["by a client that disconnects and before", [hook(50, 1), clientDisconnected(60, 1), ownHook(100, 9)]],
  ] as const)("the Pod is drained if an app's hook is called %s the manager's own hook", ([, events]) => {
    expect(outcomeAndTime(events)).toEqual(["drained", 5_100]);
  });

  test("the Pod is drained if no app has a hook, because missing calls do not prove completion", () => {
    expect(outcomeAndTime([ownHook(100, 9)], { ...JOB, hooks: [PROXY] })).toEqual(["drained", 5_100]);
  });

  test("a hook of a container that is not in the settings counts as the hook of an app", () => {
    expect(outcomeAndTime([ownHook(100, 9), hook(150, 1, "unlisted")])).toEqual(["drained", 5_100]);
  });
});
