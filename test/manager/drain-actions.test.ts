/** What the drain machine asks for and when: entries of phases, whom it learns to know, what it tells, its exit. */
import { describe, expect, test } from "vitest";
import { EXIT_FORCED, EXIT_OK } from "../../src/contract/exit-codes.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { outcomeOf } from "../../src/manager/drain/drain-report-of.ts";
import { hook, ONE_APP, ownHook, type Played, type PodAt, play, QUIET, relaySaid, sigterm } from "./drain-script.ts";

const END = [hook(100, 1), ownHook(110, 2)];
const from = (peer: string, nowMs: number, holdId: number, container = "app"): DrainEvent => ({
  ...{ kind: "hook-called", nowMs, holdId, container, peer },
});

const phasesOf = ({ actions }: Played) =>
  actions.flatMap((action) =>
    action.kind === "entered" ? [[action.at.phase.name, outcomeOf(action.at.phase), action.atMs]] : [],
  );
const timesOf = ({ actions }: Played, kind: string) =>
  actions.filter((action) => action.kind === kind).map(({ atMs }) => atMs);
const exitsOf = ({ actions }: Played) =>
  actions.flatMap((action) => (action.kind === "exit" ? [[action.code, action.atMs]] : []));
const learntOf = ({ actions }: Played) =>
  actions.flatMap((action) => (action.kind === "learn-kubelet" ? [[action.address, action.atMs]] : []));

describe("the phases that are told", () => {
  test("of a drain come in their order, each with its state", () => {
    expect(phasesOf(play({ events: END }))).toEqual([
      ["withdrawing", "none", 110],
      ["draining", "none", 5_110],
      ["holding", "drained", 5_110],
      ["done", "drained", 5_110],
    ]);
  });

  test("of a restart are one, as nothing changed", () => {
    expect(phasesOf(play({ events: [hook(0, 1)] }))).toEqual([["idle", "restarted", 5_000]]);
  });

  test("of a drain that is cut end with done", () => {
    expect(phasesOf(play({ events: [...END, sigterm(2_000)] }))).toEqual([
      ["withdrawing", "none", 110],
      ["done", "forced", 2_000],
    ]);
  });

  test("of a manager that is stopped with nothing open are none but the end", () => {
    expect(phasesOf(play({ events: [sigterm(500)] }))).toEqual([["done", "not-needed", 500]]);
  });
});

describe("the kubelet's address", () => {
  test("is learnt from the hooks that wait when the Pod's end is known, and from those that come later", () => {
    const events = [
      from("10.0.0.1", 100, 1),
      from("10.0.0.2", 105, 2, "web"),
      ownHook(110, 3),
      from("10.0.0.3", 400, 4),
    ];
    expect(learntOf(play({ events }))).toEqual([
      ["10.0.0.1", 110],
      ["10.0.0.2", 110],
      ["10.0.0.3", 400],
    ]);
  });

  test("is not learnt from hooks of a restart, nor from those after the drain", () => {
    expect(learntOf(play({ events: [from("10.0.0.1", 0, 1)] }))).toEqual([]);
    const late = play({ events: [ownHook(0, 1), from("10.0.0.1", 20_000, 2)], untilMs: 30_000 });
    expect(learntOf(late)).toEqual([]);
    expect(late.answered.get(2)).toBe(20_000);
  });
});

describe("the exit", () => {
  test("is clean for a manager that waits for nothing", () => {
    expect(exitsOf(play({ events: [sigterm(500)] }))).toEqual([[EXIT_OK, 500]]);
    expect(exitsOf(play({ events: [...END, sigterm(20_000)], untilMs: 30_000 }))).toEqual([[EXIT_OK, 20_000]]);
  });

  test("tells that a drain was cut", () => {
    const cut = play({ events: [...END, sigterm(2_000)] });
    expect(exitsOf(cut)).toEqual([[EXIT_FORCED, 2_000]]);
    expect([1, 2].map((id) => cut.answered.get(id))).toEqual([2_000, 2_000]);
  });

  test("of a classic manager comes when its drain is over, or at the second signal", () => {
    const settings = { ...ONE_APP, classic: true };
    // Its own end must come after the app's ports have closed.
    const pod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 6_000 });
    const waited = play({ settings, pod, events: [...END, sigterm(2_000)], untilMs: 60_000 });
    expect(exitsOf(waited)[0]?.[0]).toBe(EXIT_OK);
    expect(waited.state).toMatchObject({ phase: "done", outcome: "drained" });
    const cut = play({ settings, pod, events: [...END, sigterm(2_000), sigterm(3_000)], untilMs: 60_000 });
    expect(exitsOf(cut)).toEqual([[EXIT_FORCED, 3_000]]);
    expect(cut.state.outcome).toBe("forced");
  });
});

describe("a Pod that lives on after its drain", () => {
  const away: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 6_000 || nowMs > 100_000 });

  test("has its driver told when its own hook calls again, and drains again", () => {
    const settings = { ...ONE_APP, driver: "http" as const };
    const played = play({ settings, pod: away, events: [...END, ownHook(200_000, 3)], untilMs: 250_000 });
    expect(timesOf(played, "cancel-driver-drain")).toEqual([200_000]);
    expect(timesOf(played, "start-driver-drain")).toEqual([5_110, 205_000]);
    expect(phasesOf(played).slice(4, 6)).toEqual([
      ["idle", "drained", 200_000],
      ["withdrawing", "none", 200_000],
    ]);
    expect(played.answered.get(3)).toBe(205_000);
  });

  test("within a minute is one whose end was told twice: the second call is answered at once", () => {
    const played = play({ pod: away, events: [...END, ownHook(65_000, 3)], untilMs: 90_000 });
    expect(played.answered.get(3)).toBe(65_000);
    expect(timesOf(played, "cancel-driver-drain")).toEqual([]);
  });

  test("has nothing to take back where its driver was never told", () => {
    // Nothing listened from the beginning, so the drain ended before its delays.
    const pod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs > 100_000 });
    const played = play({ pod, events: [...END, ownHook(200_000, 3)], untilMs: 250_000 });
    expect(timesOf(played, "cancel-driver-drain")).toEqual([]);
    expect(timesOf(played, "start-driver-drain")).toEqual([205_000]);
  });
});

describe("a grace period that the relay tells", () => {
  test.for([
    ["leaves the app its own, and two seconds", 20, 13_110],
    ["is no reason to make a drain longer", 600, 65_110],
    ["of nothing leaves the drain a second", 0, 1_110],
    ["that is not known changes nothing", -1, 65_110],
  ] as const)("%s", ([, graceSeconds, deadlineMs]) => {
    const settings = { ...ONE_APP, appGraceMs: 5_000 };
    const busy: PodAt = (nowMs) => ({ ...QUIET, openConnections: 1, activity: "busy", lastEvidenceMs: nowMs });
    const events = [...END, relaySaid(200, "in", true, { graceSeconds })];
    expect(play({ settings, pod: busy, events }).state.deadlineMs).toBe(deadlineMs);
  });

  test("after the drain changes nothing of it", () => {
    const played = play({ events: [...END, relaySaid(20_000, "in", true, { graceSeconds: 1 })], untilMs: 30_000 });
    expect(played.state.deadlineMs).toBe(65_110);
  });
});
