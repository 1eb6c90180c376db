/** Tests the actions of the drain machine and their times: phase entries, kubelet addresses, driver calls, the exit. */
import { describe, expect, test } from "vitest";
import { EXIT_FORCED, EXIT_OK } from "../../src/contract/exit-codes.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { outcomeOf } from "../../src/manager/drain/drain-report-of.ts";
import {
  hook,
  ONE_APP,
  ownHook,
  type PlayedDrain,
  type PodAt,
  play,
  QUIET,
  relayReported,
  sigterm,
} from "./drain-script.ts";

const TERMINATION = [hook(100, 1), ownHook(110, 2)];
const hookFrom = (peer: string, nowMs: number, holdId: number, container = "app"): DrainEvent => ({
  ...{ kind: "hook-called", nowMs, holdId, container, peer },
});

const phaseEntriesOf = ({ actions }: PlayedDrain) =>
  actions.flatMap((action) =>
    action.kind === "entered"
      ? [[action.enteredState.phase.name, outcomeOf(action.enteredState.phase), action.atMs]]
      : [],
  );
const timesOf = ({ actions }: PlayedDrain, kind: string) =>
  actions.filter((action) => action.kind === kind).map(({ atMs }) => atMs);
const exitsOf = ({ actions }: PlayedDrain) =>
  actions.flatMap((action) => (action.kind === "exit" ? [[action.code, action.atMs]] : []));
const kubeletsOf = ({ actions }: PlayedDrain) =>
  actions.flatMap((action) => (action.kind === "add-kubelet-address" ? [[action.address, action.atMs]] : []));

describe("the reported phases", () => {
  test("of a drain are in the order of their start, each with its outcome", () => {
    expect(phaseEntriesOf(play({ events: TERMINATION }))).toEqual([
      ["withdrawing", "none", 110],
      ["draining", "none", 5_110],
      ["holding", "drained", 5_110],
      ["done", "drained", 5_110],
    ]);
  });

  test("of a container restart consist of `idle`", () => {
    expect(phaseEntriesOf(play({ events: [hook(0, 1)] }))).toEqual([["idle", "restarted", 5_000]]);
  });

  test("of a drain that SIGTERM ended early end with `done`", () => {
    expect(phaseEntriesOf(play({ events: [...TERMINATION, sigterm(2_000)] }))).toEqual([
      ["withdrawing", "none", 110],
      ["done", "forced", 2_000],
    ]);
  });

  test("of a manager that is stopped without connections consist of `done`", () => {
    expect(phaseEntriesOf(play({ events: [sigterm(500)] }))).toEqual([["done", "not-needed", 500]]);
  });
});

describe("the recorded address of the kubelet", () => {
  test("is the source address of the hook calls that wait at the trigger or arrive during the drain", () => {
    const events = [
      hookFrom("10.0.0.1", 100, 1),
      hookFrom("10.0.0.2", 105, 2, "web"),
      ownHook(110, 3),
      hookFrom("10.0.0.3", 400, 4),
    ];
    expect(kubeletsOf(play({ events }))).toEqual([
      ["10.0.0.1", 110],
      ["10.0.0.2", 110],
      ["10.0.0.3", 400],
    ]);
  });

  test("is not the source address of hook calls during a container restart or after the drain", () => {
    expect(kubeletsOf(play({ events: [hookFrom("10.0.0.1", 0, 1)] }))).toEqual([]);
    const lateDrain = play({ events: [ownHook(0, 1), hookFrom("10.0.0.1", 20_000, 2)], untilMs: 30_000 });
    expect(kubeletsOf(lateDrain)).toEqual([]);
    expect(lateDrain.answerTimesMs.get(2)).toBe(20_000);
  });
});

describe("the manager's exit code", () => {
  test("is 0 if no hook waits for the manager", () => {
    expect(exitsOf(play({ events: [sigterm(500)] }))).toEqual([[EXIT_OK, 500]]);
    expect(exitsOf(play({ events: [...TERMINATION, sigterm(20_000)], untilMs: 30_000 }))).toEqual([[EXIT_OK, 20_000]]);
  });

  test("is EXIT_FORCED if SIGTERM ended the drain early", () => {
    const forcedDrain = play({ events: [...TERMINATION, sigterm(2_000)] });
    expect(exitsOf(forcedDrain)).toEqual([[EXIT_FORCED, 2_000]]);
    expect([1, 2].map((id) => forcedDrain.answerTimesMs.get(id))).toEqual([2_000, 2_000]);
  });

  test("depends in classic mode on the end of the drain or the second SIGTERM", () => {
    const settings = { ...ONE_APP, classic: true };
    // In classic mode the manager exits only after the app has closed its ports, here at 6 s.
    const pod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 6_000 });
    const waitedDrain = play({ settings, pod, events: [...TERMINATION, sigterm(2_000)], untilMs: 60_000 });
    expect(exitsOf(waitedDrain)[0]?.[0]).toBe(EXIT_OK);
    expect(waitedDrain.summary).toMatchObject({ phase: "done", outcome: "drained" });
    const forced = play({ settings, pod, events: [...TERMINATION, sigterm(2_000), sigterm(3_000)], untilMs: 60_000 });
    expect(exitsOf(forced)).toEqual([[EXIT_FORCED, 3_000]]);
    expect(forced.summary.outcome).toBe("forced");
  });
});

describe("a Pod that continues after its drain", () => {
  const temporarilyClosedPod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 6_000 || nowMs > 100_000 });

  test("is drained again at the next call of the manager's own hook, after the driver's drain was cancelled", () => {
    const settings = { ...ONE_APP, driver: "http" as const };
    const drain = play({
      settings,
      pod: temporarilyClosedPod,
      events: [...TERMINATION, ownHook(200_000, 3)],
      untilMs: 250_000,
    });
    expect(timesOf(drain, "cancel-driver-drain")).toEqual([200_000]);
    expect(timesOf(drain, "start-driver-drain")).toEqual([5_110, 205_000]);
    expect(phaseEntriesOf(drain).slice(4, 6)).toEqual([
      ["idle", "drained", 200_000],
      ["withdrawing", "none", 200_000],
    ]);
    expect(drain.answerTimesMs.get(3)).toBe(205_000);
  });

  test("is not drained again if the manager's own hook is called within a minute after the drain", () => {
    const drain = play({ pod: temporarilyClosedPod, events: [...TERMINATION, ownHook(65_000, 3)], untilMs: 90_000 });
    expect(drain.answerTimesMs.get(3)).toBe(65_000);
    expect(timesOf(drain, "cancel-driver-drain")).toEqual([]);
  });

  test("does not cause a cancellation of the driver's drain if that drain was never started", () => {
    // The Pod has no listener at the trigger, so the first drain ends immediately and the driver's drain does not start.
    const pod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs > 100_000 });
    const drain = play({ pod, events: [...TERMINATION, ownHook(200_000, 3)], untilMs: 250_000 });
    expect(timesOf(drain, "cancel-driver-drain")).toEqual([]);
    expect(timesOf(drain, "start-driver-drain")).toEqual([205_000]);
  });
});

describe("a grace period that the relay reports", () => {
  test.for([
    ["moves the deadline to leave the app's grace period and two seconds", 20, 13_110],
    ["of 600 s does not move the deadline of 65 s", 600, 65_110],
    ["of 0 s leaves one second for the drain", 0, 1_110],
    ["of unknown length does not move the deadline", -1, 65_110],
  ] as const)("%s", ([, graceSeconds, deadlineMs]) => {
    const settings = { ...ONE_APP, appGraceMs: 5_000 };
    const busyPod: PodAt = (nowMs) => ({ ...QUIET, openConnections: 1, activity: "busy", lastEvidenceMs: nowMs });
    const events = [...TERMINATION, relayReported(200, "in", true, { graceSeconds })];
    expect(play({ settings, pod: busyPod, events }).summary.deadlineMs).toBe(deadlineMs);
  });

  test("does not change the deadline after the drain", () => {
    const drain = play({
      events: [...TERMINATION, relayReported(20_000, "in", true, { graceSeconds: 1 })],
      untilMs: 30_000,
    });
    expect(drain.summary.deadlineMs).toBe(65_110);
  });
});
