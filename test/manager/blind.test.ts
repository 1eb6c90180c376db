/** When a drain that cannot see hands over, cell by cell, and when it must not. */
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { endsBlind } from "../../src/manager/drain/draining.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET, relaySaid, UNKNOWN } from "./drain-script.ts";
import { draining, drainingPhase } from "./drain-states.ts";

const WHY = "the kernel's socket tables could not be read";
const BLIND: Observation = { known: false, why: WHY, blind: true };
const CLIENT = { local: "10.0.0.5:8080", peer: "10.0.0.9:40000", ageMs: 0, state: "ESTABLISHED" };
/** Connections are counted, and whether this one is idle cannot be told. */
const UNTOLD: Observation = {
  ...{ ...QUIET, activity: "unknown", openConnections: 1, evidenceSource: "proc" },
  ...{ left: [CLIENT], leftTotal: 1 },
};
const END: readonly DrainEvent[] = [hook(0, 1), ownHook(0, 2)];

type Case = {
  readonly says: string;
  readonly pod: PodAt;
  readonly settings?: Partial<DrainSettings>;
  readonly words?: readonly DrainEvent[];
  readonly active?: (nowMs: number) => number;
  readonly ms: number;
  readonly outcome: string;
};

const whole = ({ pod, settings = {}, words = [], active }: Omit<Case, "says" | "ms" | "outcome">) =>
  play({
    settings: { ...ONE_APP, ...settings },
    events: [...END, ...words],
    pod,
    ...(active === undefined ? {} : { active }),
  });

const afterOf = (sources: Omit<Case, "says" | "ms" | "outcome">) => {
  const played = whole(sources);
  return [played.state.outcome, played.answered.get(1)];
};

describe("a drain that sees nothing", () => {
  test.for<Case>([
    { says: "gets the drain delay and no more", pod: () => BLIND, ms: 5_000, outcome: "blind" },
    {
      says: "gets the deregistration delay as well",
      ...{ pod: () => BLIND, settings: { deregistrationDelayMs: 3_000 } },
      ...{ ms: 8_000, outcome: "blind" },
    },
    {
      says: "waits for the withdrawal that the relay confirms",
      ...{ pod: () => BLIND, words: [relaySaid(10, "in", true), relaySaid(9_000, "out", true)] },
      ...{ ms: 9_000, outcome: "blind" },
    },
    {
      says: "waits to the deadline where that is what it was told",
      ...{ pod: () => BLIND, settings: { drainedWhen: "deadline" } },
      ...{ ms: 65_000, outcome: "timeout" },
    },
    {
      says: "hands over where connections were to be waited for",
      ...{ pod: () => BLIND, settings: { drainedWhen: "connections" } },
      ...{ ms: 5_000, outcome: "blind" },
    },
    {
      says: "is ended by a driver that counts",
      ...{ pod: () => BLIND, settings: { driver: "envoy" }, active: (nowMs) => (nowMs < 20_000 ? 1 : 0) },
      ...{ ms: 22_000, outcome: "drained" },
    },
    {
      says: "is no drain whose looks were disturbed: that one has a deadline",
      ...{ pod: () => UNKNOWN, ms: 65_000, outcome: "timeout" },
    },
    {
      says: "is no drain that sees at every tenth look",
      ...{ pod: everyTenth(), ms: 65_000, outcome: "timeout" },
    },
  ])("$says", ({ ms, outcome, ...sources }) => {
    const [ended, atMs] = afterOf(sources);
    expect(ended).toBe(outcome);
    // A look or a count may come a beat later.
    expect(Number(atMs) - ms).toBeGreaterThanOrEqual(0);
    expect(Number(atMs) - ms).toBeLessThan(200);
  });

  test("says why, and that nothing was its evidenceSource", () => {
    const played = whole({ pod: () => BLIND });
    expect(played.state.why).toBe(`Released 5s after the trigger: ${WHY}, so only the delays were waited for.`);
  });

  test("goes on for nine failed looks after it has seen work, and not for ten", () => {
    const unseen = (blindInARow: number) =>
      endsBlind(ONE_APP, draining({ sample: { observation: BLIND, blindInARow } }), drainingPhase(), 6_000);
    expect([unseen(9), unseen(10)]).toEqual([false, true]);
    const [outcome, atMs] = afterOf({ pod: (nowMs) => (nowMs < 20_000 ? busyUntil(99_999)(nowMs) : BLIND) });
    expect(outcome).toBe("blind");
    // The looks are 150 ms apart: nine of those lie between the first failure and the tenth.
    expect(atMs).toBeGreaterThanOrEqual(20_000 + 9 * 150);
    expect(atMs).toBeLessThan(22_000);
  });

  test("gives a classic app its own grace from then on", () => {
    const settings = { ...ONE_APP, classic: true, appGraceMs: 30_000 };
    const played = play({ settings, events: END, pod: () => BLIND });
    expect([played.answered.get(1), played.answered.get(2)]).toEqual([5_000, 35_000]);
  });
});

describe("a drain that sees connections and not who is at work", () => {
  const evidenceAt =
    (ms: number): PodAt =>
    (nowMs) =>
      nowMs < ms ? UNTOLD : { ...UNTOLD, known: true, lastEvidenceMs: ms };

  test.for<Case>([
    { says: "waits 10 s after its delays", pod: () => UNTOLD, ms: 15_000, outcome: "blind" },
    { says: "waits 10 s after the last traffic that shows", pod: evidenceAt(12_000), ms: 22_000, outcome: "blind" },
    {
      says: "never cuts what is seen to be at work",
      pod: (nowMs) => (nowMs < 40_000 ? busyUntil(40_000)(nowMs) : { ...UNTOLD, lastEvidenceMs: 40_000 }),
      ...{ ms: 50_000, outcome: "blind" },
    },
    {
      says: "waits for a quiet period that is longer",
      ...{ pod: () => UNTOLD, settings: { quietPeriodMs: 20_000 }, ms: 25_000, outcome: "blind" },
    },
    {
      says: "ends like any other when the last connection is gone",
      pod: (nowMs) => (nowMs < 8_000 ? UNTOLD : { ...QUIET, evidenceSource: "proc" }),
      ...{ ms: 8_000, outcome: "drained" },
    },
    {
      says: "waits for connections to its deadline where it was told so, since these show",
      ...{ pod: () => UNTOLD, settings: { drainedWhen: "connections" }, ms: 65_000, outcome: "timeout" },
    },
    {
      says: "has a shorter deadline where the drain timeout is shorter",
      ...{ pod: () => UNTOLD, settings: { drainTimeoutMs: 8_000 }, ms: 13_000, outcome: "timeout" },
    },
  ])("$says", ({ ms, outcome, ...sources }) => {
    const [ended, atMs] = afterOf(sources);
    expect(ended).toBe(outcome);
    expect(Number(atMs) - ms).toBeGreaterThanOrEqual(0);
    expect(Number(atMs) - ms).toBeLessThan(200);
  });

  test("names who stayed, and says that it cannot be told whether they are idle", () => {
    const { why } = whole({ pod: () => UNTOLD }).state;
    expect(why).toMatch(
      /^Released 15(\.\d)?s after the trigger with 1 connection still open: 10\.0\.0\.9:40000 to port 8080; /,
    );
    expect(why).toContain(
      "no traffic was observed for 10s, but this kernel interface does not show whether they are idle.",
    );
  });
});

/** Of ten looks in a row nine fail; at the tenth a client is at work. */
function everyTenth(): PodAt {
  let looks = 0;
  return (nowMs) => {
    looks += 1;
    return looks % 10 === 0 ? busyUntil(99_999)(nowMs) : BLIND;
  };
}
