/** Tests when a drain that cannot observe the sockets ends with the outcome `blind`. */
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { endsBlind } from "../../src/manager/drain/draining.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";
import {
  busyUntil,
  hook,
  ONE_APP,
  ownHook,
  type PodAt,
  play,
  QUIET,
  relayReported,
  UNKNOWN_OBSERVATION,
} from "./drain-script.ts";
import { draining, drainingPhase } from "./drain-states.ts";

const READ_FAILURE = "the kernel's socket tables could not be read";
const BLIND_OBSERVATION: Observation = { known: false, why: READ_FAILURE, blind: true };
const CLIENT = { local: "10.0.0.5:8080", peer: "10.0.0.9:40000", ageMs: 0, state: "ESTABLISHED" };
/** The connections are counted, but the times of their last data are unknown. */
const UNKNOWN_ACTIVITY: Observation = {
  ...{ ...QUIET, activity: "unknown", openConnections: 1, evidenceSource: "proc" },
  ...{ left: [CLIENT], leftTotal: 1 },
};
const TERMINATION: readonly DrainEvent[] = [hook(0, 1), ownHook(0, 2)];

type Case = {
  readonly title: string;
  readonly pod: PodAt;
  readonly settings?: Partial<DrainSettings>;
  readonly statuses?: readonly DrainEvent[];
  readonly active?: (nowMs: number) => number;
  readonly ms: number;
  readonly outcome: string;
};

const playScript = ({ pod, settings = {}, statuses = [], active }: Omit<Case, "title" | "ms" | "outcome">) =>
  play({
    settings: { ...ONE_APP, ...settings },
    events: [...TERMINATION, ...statuses],
    pod,
    ...(active === undefined ? {} : { active }),
  });

const outcomeAndTime = (drainCase: Omit<Case, "title" | "ms" | "outcome">) => {
  const drain = playScript(drainCase);
  return [drain.summary.outcome, drain.answerTimesMs.get(1)];
};

describe("a drain in a Pod whose socket tables cannot be read", () => {
  test.for<Case>([
    {
      title: "ends with outcome `blind` after the drain delay",
      pod: () => BLIND_OBSERVATION,
      ms: 5_000,
      outcome: "blind",
    },
    {
      title: "ends with outcome `blind` after the drain delay and the deregistration delay",
      ...{ pod: () => BLIND_OBSERVATION, settings: { deregistrationDelayMs: 3_000 } },
      ...{ ms: 8_000, outcome: "blind" },
    },
    {
      title: "continues until the relay reports the Pod's withdrawal",
      ...{ pod: () => BLIND_OBSERVATION, statuses: [relayReported(10, "in", true), relayReported(9_000, "out", true)] },
      ...{ ms: 9_000, outcome: "blind" },
    },
    {
      title: "continues until the deadline if `drained-when` is `deadline`",
      ...{ pod: () => BLIND_OBSERVATION, settings: { drainedWhen: "deadline" } },
      ...{ ms: 65_000, outcome: "timeout" },
    },
    {
      title: "ends with outcome `blind` after its delays if `drained-when` is `connections`",
      ...{ pod: () => BLIND_OBSERVATION, settings: { drainedWhen: "connections" } },
      ...{ ms: 5_000, outcome: "blind" },
    },
    {
      title: "ends after a quiet period without requests if a driver counts the requests",
      ...{ pod: () => BLIND_OBSERVATION, settings: { driver: "envoy" }, active: (nowMs) => (nowMs < 20_000 ? 1 : 0) },
      ...{ ms: 22_000, outcome: "drained" },
    },
    {
      title: "continues until the deadline if every sample is interrupted",
      ...{ pod: () => UNKNOWN_OBSERVATION, ms: 65_000, outcome: "timeout" },
    },
    {
      title: "continues until the deadline if every tenth sample succeeds",
      ...{ pod: podVisibleInEveryTenthSample(), ms: 65_000, outcome: "timeout" },
    },
  ])("$title", ({ ms, outcome, ...sources }) => {
    const [ended, atMs] = outcomeAndTime(sources);
    expect(ended).toBe(outcome);
    // The machine detects the condition with its next sample or count, at most 200 ms later.
    expect(Number(atMs) - ms).toBeGreaterThanOrEqual(0);
    expect(Number(atMs) - ms).toBeLessThan(200);
  });

  test("reports that the socket tables could not be read", () => {
    const drain = playScript({ pod: () => BLIND_OBSERVATION });
    expect(drain.summary.why).toBe(
      `Released 5s after the trigger: ${READ_FAILURE}, so the drain only waited for its delays.`,
    );
  });

  test("ends at the tenth failed sample in a row, even if an earlier sample observed traffic", () => {
    const endsBlindAfter = (consecutiveBlindSamples: number) =>
      endsBlind(
        ONE_APP,
        draining({ sample: { observation: BLIND_OBSERVATION, consecutiveBlindSamples } }),
        drainingPhase(),
        6_000,
      );
    expect([endsBlindAfter(9), endsBlindAfter(10)]).toEqual([false, true]);
    const [outcome, atMs] = outcomeAndTime({
      pod: (nowMs) => (nowMs < 20_000 ? busyUntil(99_999)(nowMs) : BLIND_OBSERVATION),
    });
    expect(outcome).toBe("blind");
    // The tenth failed sample, 150 ms after the ninth, is at the earliest 9 * 150 ms after the first.
    expect(atMs).toBeGreaterThanOrEqual(20_000 + 9 * 150);
    expect(atMs).toBeLessThan(22_000);
  });

  test("answers the manager's own hook in classic mode one grace period of the app after the end of the drain", () => {
    const settings = { ...ONE_APP, classic: true, appGraceMs: 30_000 };
    const drain = play({ settings, events: TERMINATION, pod: () => BLIND_OBSERVATION });
    expect([drain.answerTimesMs.get(1), drain.answerTimesMs.get(2)]).toEqual([5_000, 35_000]);
  });
});

describe("a drain in a Pod whose connections can be listed without their activity", () => {
  const podWithEvidenceAt =
    (ms: number): PodAt =>
    (nowMs) =>
      nowMs < ms ? UNKNOWN_ACTIVITY : { ...UNKNOWN_ACTIVITY, known: true, lastEvidenceMs: ms };

  test.for<Case>([
    {
      title: "ends with outcome `blind` 10 s after its delays",
      pod: () => UNKNOWN_ACTIVITY,
      ms: 15_000,
      outcome: "blind",
    },
    {
      title: "ends with outcome `blind` 10 s after the last evidence of traffic",
      pod: podWithEvidenceAt(12_000),
      ms: 22_000,
      outcome: "blind",
    },
    {
      title: "continues while a connection is busy",
      pod: (nowMs) => (nowMs < 40_000 ? busyUntil(40_000)(nowMs) : { ...UNKNOWN_ACTIVITY, lastEvidenceMs: 40_000 }),
      ...{ ms: 50_000, outcome: "blind" },
    },
    {
      title: "continues for the quiet period if the period is longer than 10 s",
      ...{ pod: () => UNKNOWN_ACTIVITY, settings: { quietPeriodMs: 20_000 }, ms: 25_000, outcome: "blind" },
    },
    {
      title: "ends with outcome `drained` when the last connection is closed",
      pod: (nowMs) => (nowMs < 8_000 ? UNKNOWN_ACTIVITY : { ...QUIET, evidenceSource: "proc" }),
      ...{ ms: 8_000, outcome: "drained" },
    },
    {
      title: "continues until the deadline if connections stay open and `drained-when` is `connections`",
      ...{ pod: () => UNKNOWN_ACTIVITY, settings: { drainedWhen: "connections" }, ms: 65_000, outcome: "timeout" },
    },
    {
      title: "ends at the deadline if the drain timeout is shorter than 10 s",
      ...{ pod: () => UNKNOWN_ACTIVITY, settings: { drainTimeoutMs: 8_000 }, ms: 13_000, outcome: "timeout" },
    },
  ])("$title", ({ ms, outcome, ...sources }) => {
    const [ended, atMs] = outcomeAndTime(sources);
    expect(ended).toBe(outcome);
    expect(Number(atMs) - ms).toBeGreaterThanOrEqual(0);
    expect(Number(atMs) - ms).toBeLessThan(200);
  });

  test("lists the remaining clients in the report and states that their activity is unknown", () => {
    const { why } = playScript({ pod: () => UNKNOWN_ACTIVITY }).summary;
    expect(why).toMatch(
      /^Released 15(\.\d)?s after the trigger with 1 connection still open: 10\.0\.0\.9:40000 to port 8080; /,
    );
    expect(why).toContain(
      "no data was observed for 10s, but /proc/net does not show whether the connections have open requests.",
    );
  });
});

/** Nine of ten samples fail; the tenth shows a busy client. */
function podVisibleInEveryTenthSample(): PodAt {
  let samples = 0;
  return (nowMs) => {
    samples += 1;
    return samples % 10 === 0 ? busyUntil(99_999)(nowMs) : BLIND_OBSERVATION;
  };
}
