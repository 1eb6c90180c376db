import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import { idleState } from "../../src/manager/drain/drain-state.ts";
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
  sigterm,
  UNKNOWN_OBSERVATION,
} from "./drain-script.ts";

const TERMINATION = [hook(100, 1), ownHook(110, 2)];
const TWO_APPS: DrainSettings = {
  ...ONE_APP,
  hooks: [
    { container: "app", role: "app" },
    { container: "web", role: "app" },
  ],
};
const MESH: DrainSettings = {
  ...ONE_APP,
  hooks: [
    { container: "app", role: "app" },
    { container: "istio-proxy", role: "mesh-proxy" },
  ],
};

describe("the start of a drain", () => {
  test.for([
    { title: "the manager's own hook", events: TERMINATION, trigger: "hook" },
    { title: "the manager's own hook without other hooks", events: [ownHook(100, 2)], trigger: "hook" },
    {
      title: "the manager's own hook four seconds after the app's hook",
      events: [hook(0, 1), ownHook(4_000, 2)],
      trigger: "hook",
    },
    {
      title: "the manager's own hook fourteen seconds after the hooks of two containers",
      events: [hook(0, 1), hook(900, 2, "web"), ownHook(14_000, 3)],
      trigger: "hook",
    },
    {
      title: "the relay's report that the Pod is terminating",
      events: [hook(0, 1), relayReported(300, "unknown", true)],
      trigger: "relay",
    },
    { title: "SIGTERM while a hook waits for its answer", events: [hook(0, 1), sigterm(50)], trigger: "sigterm" },
  ])("follows $title", ({ events, trigger }) => {
    const drain = play({ settings: TWO_APPS, events, untilMs: 50_000 });
    expect(drain.summary).toMatchObject({ trigger, phase: "done", outcome: expect.stringMatching(/drained|timeout/) });
  });

  test.for([
    { title: "one hook alone", events: [hook(0, 1)] },
    { title: "two calls of the same hook", events: [hook(0, 1), hook(100, 2)] },
    { title: "hooks of two containers more than a second apart", events: [hook(0, 1), hook(1_200, 2, "web")] },
    {
      title: "the relay's report that the Pod is not terminating",
      events: [hook(0, 1), relayReported(10, "in", false)],
    },
  ])(
    "does not follow $title, and the hooks are answered after five seconds as in a container restart",
    ({ events }) => {
      const drain = play({ settings: TWO_APPS, events });
      expect(drain.summary).toMatchObject({ phase: "idle", outcome: "restarted", trigger: "none", holds: [] });
      expect(drain.answerTimesMs.get(1)).toBe(5_000);
    },
  );

  test.for([
    {
      title: "hooks of two containers within a second",
      events: [hook(0, 1), hook(900, 2, "web")],
      ms: [15_000, 15_900],
    },
    {
      title: "hooks of two containers if the caller of one has disconnected",
      events: [{ kind: "client-disconnected", nowMs: 10, holdId: 9 } as const, hook(0, 9, "web"), hook(500, 1)],
      ms: [15_500],
    },
    {
      title: "hooks of two containers if one hook is called repeatedly",
      events: [hook(0, 1), ...Array.from({ length: 40 }, (_, at) => hook(500 + at * 900, 2 + at, "web"))],
      ms: [15_000, 15_500],
    },
  ])(
    "does not follow $title, and the hooks are answered after fifteen seconds as in a container restart",
    ({ events, ms }) => {
      const drain = play({ settings: TWO_APPS, events });
      expect(drain.summary).toMatchObject({ phase: "idle", outcome: "restarted", trigger: "none", holds: [] });
      expect(ms.map((_, at) => drain.answerTimesMs.get(at + 1))).toEqual(ms);
      expect(drain.actions.filter((action) => action.kind === "start-driver-drain")).toEqual([]);
    },
  );

  test.for([
    { title: "nothing", statuses: [], answeredMs: 15_000 },
    {
      title: "only a failed connection",
      statuses: [
        relayReported(2_100, "unknown", false, {
          reason: "the relay did not respond within 2000 ms",
          isFromRelay: false,
        }),
      ],
      answeredMs: 15_000,
    },
    { title: "a status after 1.5 s", statuses: [relayReported(1_501, "in", false)], answeredMs: 5_000 },
    { title: "a status after 4 s", statuses: [relayReported(4_001, "in", false)], answeredMs: 12_000 },
    { title: "a status after 9 s", statuses: [relayReported(9_001, "in", false)], answeredMs: 15_000 },
    {
      title: "a status after 4 s and another one later",
      statuses: [relayReported(4_001, "in", false), relayReported(10_000, "out", false)],
      answeredMs: 12_000,
    },
  ])(
    "does not follow a single hook, which is answered after $answeredMs ms if the relay reports $title",
    ({ statuses, answeredMs }) => {
      const pendingStatus = relayReported(1, "unknown", false, { reason: "no answer yet", isFromRelay: false });
      const drain = play({ settings: TWO_APPS, events: [hook(0, 1), pendingStatus, ...statuses] });
      expect(drain.summary).toMatchObject({
        phase: "idle",
        outcome: "restarted",
        trigger: "none",
        holds: [],
        endingContainers: [],
      });
      expect(drain.answerTimesMs.get(1)).toBe(answeredMs);
      const lateDrain = play({ events: [hook(0, 1), pendingStatus, ...statuses, ownHook(answeredMs - 1, 2)] });
      expect(lateDrain.summary).toMatchObject({ phase: "done", outcome: "drained", trigger: "hook" });
    },
  );

  test("does not depend on the relay's response time during an earlier container restart", () => {
    const pendingStatus = (nowMs: number) =>
      relayReported(nowMs, "unknown", false, { reason: "no answer yet", isFromRelay: false });
    const events = [
      hook(0, 1),
      pendingStatus(0),
      relayReported(4_000, "in", false),
      hook(30_000, 2),
      pendingStatus(30_000),
    ];
    const drain = play({ events: [...events, relayReported(30_100, "in", false)] });
    expect([1, 2].map((id) => drain.answerTimesMs.get(id))).toEqual([12_000, 35_000]);
  });

  test("is also the start of the drain delay, even if other hooks arrived earlier", () => {
    const events = [hook(0, 1), hook(100, 2, "web"), ownHook(9_000, 3)];
    const drain = play({ settings: TWO_APPS, events });
    expect([1, 2, 3].map((id) => drain.answerTimesMs.get(id))).toEqual([14_000, 14_000, 14_000]);
    expect(drain.summary.deadlineMs).toBe(74_000);
  });

  test("can follow a container restart", () => {
    const drain = play({ events: [hook(0, 1), hook(30_000, 2), ownHook(30_010, 3)] });
    expect(drain.answerTimesMs.get(1)).toBe(5_000);
    expect(drain.summary).toMatchObject({ phase: "done", outcome: "drained" });
    expect(drain.answerTimesMs.get(2)).toBe(35_010);
  });
});

describe("the duration of a drain", () => {
  test.for([
    { title: "is the drain delay if the Pod is quiet", pod: () => QUIET, ms: 5_000, outcome: "drained" },
    {
      title: "is the time until a quiet period after the last traffic",
      pod: busyUntil(9_110),
      ms: 11_000,
      outcome: "drained",
    },
    {
      title: "is the time until the deadline if traffic continues",
      pod: busyUntil(999_999),
      ms: 65_000,
      outcome: "timeout",
    },
    {
      title: "is the time until the deadline if every sample is interrupted",
      pod: () => UNKNOWN_OBSERVATION,
      ms: 65_000,
      outcome: "timeout",
    },
    {
      title: "is the time until the deadline if a connection is not tracked",
      pod: () => ({ ...QUIET, activity: "busy", openConnections: 1 }),
      ms: 65_000,
      outcome: "timeout",
    },
    {
      title: "is zero if the Pod does not have a listener",
      pod: () => ({ ...QUIET, hasTcpListener: false }),
      ms: 0,
      outcome: "not-needed",
    },
    {
      title: "is the sum of the delays if the Pod has only UDP sockets",
      pod: () => ({ ...QUIET, hasTcpListener: false, hasUdp: true, activity: "busy" }),
      ms: 5_000,
      outcome: "drained",
    },
  ] satisfies { title: string; pod: PodAt; ms: number; outcome: string }[])("$title", ({ pod, ms, outcome }) => {
    const drain = play({ events: TERMINATION, pod });
    expect(drain.summary.outcome).toBe(outcome);
    expect(drain.answerTimesMs.get(1)).toBe(110 + ms);
    expect(drain.answerTimesMs.get(2)).toBe(110 + ms);
  });

  test.for([
    { title: "in a quiet Pod", drainedWhen: "deadline", pod: () => QUIET, ms: 65_000, outcome: "drained" },
    {
      title: "in a Pod with only UDP sockets",
      drainedWhen: "deadline",
      pod: () => ({ ...QUIET, hasTcpListener: false, hasUdp: true }),
      ms: 65_000,
      outcome: "drained",
    },
    {
      title: "with an idle connection",
      drainedWhen: "connections",
      pod: () => ({ ...QUIET, openConnections: 1 }),
      ms: 65_000,
      outcome: "timeout",
    },
    {
      title: "with an idle connection",
      drainedWhen: "quiet",
      pod: () => ({ ...QUIET, openConnections: 1 }),
      ms: 5_000,
      outcome: "drained",
    },
  ] satisfies { title: string; drainedWhen: DrainSettings["drainedWhen"]; pod: PodAt; ms: number; outcome: string }[])(
    "is $ms ms $title if `drained-when` is `$drainedWhen`, with the outcome `$outcome`",
    ({ drainedWhen, pod, ms, outcome }) => {
      const drain = play({ settings: { ...ONE_APP, drainedWhen }, events: TERMINATION, pod });
      expect(drain.summary.outcome).toBe(outcome);
      expect(drain.answerTimesMs.get(1)).toBe(110 + ms);
    },
  );

  test("excludes the quiet period if `drained-when` is `connections` and all connections are closed", () => {
    const drain = play({
      settings: { ...ONE_APP, drainedWhen: "connections" },
      events: TERMINATION,
      pod: busyUntil(20_000),
    });
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(20_000);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(20_250);
  });

  test("includes the deregistration delay, which the report lists separately from the drain delay", () => {
    const drain = play({ settings: { ...ONE_APP, deregistrationDelayMs: 7_000 }, events: TERMINATION });
    expect(drain.answerTimesMs.get(1)).toBe(110 + 12_000);
    expect(drainReportOf(drain.state, 999_999, -1, 0).milliseconds).toEqual({
      withdrawing: 5_000,
      deregistration: 7_000,
      draining: 0,
      holding: 0,
    });
  });

  test("includes a quiet period that starts at the trigger if it is longer than the delays", () => {
    const drain = play({ settings: { ...ONE_APP, drainDelayMs: 0 }, events: TERMINATION });
    expect(drain.answerTimesMs.get(1)).toBe(110 + 2_000);
  });

  test("is the time until the app closes its listeners", () => {
    const drain = play({
      events: TERMINATION,
      pod: (nowMs) => (nowMs < 8_000 ? busyUntil(99_999)(nowMs) : { ...QUIET, hasTcpListener: false }),
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(8_250);
  });
});

describe("a drain with a driver that counts requests", () => {
  const settings: DrainSettings = { ...ONE_APP, driver: "http", activeUrl: "http://127.0.0.1:8080/active" };

  test("ends a quiet period after the last active request", () => {
    const drain = play({
      settings,
      events: TERMINATION,
      pod: busyUntil(999_999),
      active: (nowMs) => (nowMs < 9_000 ? 3 : 0),
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(11_000);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(11_500);
  });

  test("reports the connections that are open at the end of the drain, not at its start", () => {
    const drain = play({
      settings,
      events: TERMINATION,
      pod: busyUntil(7_000),
      active: (nowMs) => (nowMs < 9_000 ? 3 : 0),
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.summary.sample.observation).toMatchObject({ known: true, leftTotal: 0 });
  });

  test("continues while the count of requests is unknown", () => {
    const drain = play({ settings, events: TERMINATION, active: () => -1 });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drain.summary.why).toContain("the last count of active requests failed");
  });

  test("starts the drain of the proxy or app once, after the delays", () => {
    const drain = play({ settings, events: TERMINATION, active: () => 0 });
    expect(drain.actions.filter((action) => action.kind === "start-driver-drain").map((action) => action.atMs)).toEqual(
      [5_110],
    );
  });
});

describe("a Pod that runs to completion", () => {
  const settings: DrainSettings = { ...ONE_APP, completes: true };

  test("ends its drain as `not-needed` two seconds after the trigger if no app's hook is called, even with open listeners", () => {
    const drain = play({ settings, events: [ownHook(100, 1)], pod: busyUntil(999_999) });
    expect(drain.answerTimesMs.get(1)).toBe(2_100);
    expect(drain.summary.outcome).toBe("not-needed");
  });

  test("is drained if the app's hook is called", () => {
    const drain = play({ settings, events: [ownHook(100, 1), hook(1_900, 2)] });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBe(5_100);
  });

  test("is drained if no app container has a hook, because completion cannot be detected without a hook", () => {
    const drain = play({ settings: { ...settings, hooks: [] }, events: [ownHook(100, 1)] });
    expect(drain.answerTimesMs.get(1)).toBe(5_100);
  });
});

describe("SIGTERM", () => {
  test("stops an idle manager immediately if no connection is open", () => {
    const drain = play({ events: [sigterm(50)] });
    expect(drain.actions).toContainEqual({ kind: "exit", code: 0, atMs: 50 });
  });

  test("starts a drain within the grace period of a native sidecar if traffic flows and no hook was called", () => {
    const drain = play({ events: [sigterm(50)], pod: busyUntil(999_999) });
    expect(drain.actions).toContainEqual({ kind: "exit", code: 0, atMs: 1_850 });
    expect(drain.summary).toMatchObject({ trigger: "sigterm", outcome: "timeout" });
  });

  test("stops the manager immediately after a drain", () => {
    const drain = play({ events: [...TERMINATION, sigterm(20_000)] });
    expect(drain.actions).toContainEqual({ kind: "exit", code: 0, atMs: 20_000 });
    expect(drain.summary.outcome).toBe("drained");
  });

  test("ends a running drain of a native sidecar early, because the grace period is over", () => {
    const drain = play({ events: [...TERMINATION, sigterm(3_000)] });
    expect(drain.actions).toContainEqual({ kind: "exit", code: 3, atMs: 3_000 });
    expect(drain.summary.outcome).toBe("forced");
    expect(drain.answerTimesMs.size).toBe(2);
  });

  test("does not end a running drain in classic mode", () => {
    const settings = { ...ONE_APP, classic: true };
    const drain = play({ settings, events: [hook(100, 1), sigterm(120)] });
    expect(drain.answerTimesMs.get(1)).toBe(5_120);
    expect(drain.actions).toContainEqual({ kind: "exit", code: 0, atMs: 5_120 });
  });

  test("ends a running drain in classic mode when it arrives twice", () => {
    const settings = { ...ONE_APP, classic: true };
    const drain = play({ settings, events: [...TERMINATION, sigterm(120), sigterm(130)] });
    expect(drain.actions).toContainEqual({ kind: "exit", code: 3, atMs: 130 });
  });
});

describe("the answer to a preStop hook", () => {
  const otherProcessesUntil = (untilMs: number) => (nowMs: number) => ({
    known: true,
    hasOthers: nowMs < untilMs,
    hasSharedUser: false,
  });
  const meshTermination = [...TERMINATION, hook(120, 3, "istio-proxy")];

  test("of a mesh proxy is sent after one second without sockets of other processes", () => {
    const drain = play({ settings: MESH, events: meshTermination, otherProcesses: otherProcessesUntil(9_000) });
    expect(drain.answerTimesMs.get(1)).toBe(5_110);
    expect(drain.answerTimesMs.get(3)).toBeGreaterThanOrEqual(10_000);
    expect(drain.answerTimesMs.get(3)).toBeLessThanOrEqual(10_500);
    expect(drain.answerTimesMs.get(2)).toBe(drain.answerTimesMs.get(3));
  });

  test("of a mesh proxy is delayed by one second even if the app does not have a socket", () => {
    const drain = play({ settings: MESH, events: meshTermination, otherProcesses: otherProcessesUntil(0) });
    expect((drain.answerTimesMs.get(3) ?? 0) - (drain.answerTimesMs.get(1) ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  test.for([
    { title: "the app runs as the proxy's user", processes: { known: true, hasOthers: false, hasSharedUser: true } },
    {
      title: "the proxy's process cannot be identified",
      processes: { known: false, hasOthers: false, hasSharedUser: false },
    },
  ])("of a mesh proxy is delayed until the deadline plus the app's grace period if $title", ({ processes }) => {
    const drain = play({ settings: MESH, events: meshTermination, otherProcesses: () => processes });
    expect(drain.answerTimesMs.get(3)).toBe(110 + 65_000 + 30_000);
  });

  test("of the manager itself is delayed in classic mode until the app has closed its ports", () => {
    const settings = { ...ONE_APP, classic: true };
    const pod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 8_000 });
    const drain = play({ settings, events: TERMINATION, pod });
    expect(drain.answerTimesMs.get(1)).toBe(5_110);
    expect(drain.answerTimesMs.get(2)).toBeGreaterThanOrEqual(8_000);
    expect(drain.answerTimesMs.get(2)).toBeLessThanOrEqual(8_300);
  });

  test("is sent immediately to the newest calls of a container that has more held calls than the limit", () => {
    const events = [ownHook(0, 999), ...Array.from({ length: 130 }, (_, at) => hook(100 + at, at))];
    const drain = play({ events });
    const earlyAnswers = [...drain.answerTimesMs].filter(([, atMs]) => atMs < 5_000);
    expect(earlyAnswers.map(([id]) => id)).toEqual([127, 128, 129]);
  });

  test("is not changed by another caller that disconnects", () => {
    const drain = play({
      events: [...TERMINATION, { kind: "client-disconnected", nowMs: 1_000, holdId: 2 }],
      pod: busyUntil(9_000),
    });
    expect(drain.answerTimesMs.get(1)).toBe(11_000);
    expect(drain.answerTimesMs.has(2)).toBe(false);
  });

  test("is sent immediately if the hook is called after the drain", () => {
    const drain = play({ events: [...TERMINATION, hook(20_000, 3), ownHook(21_000, 4)] });
    expect(drain.answerTimesMs.get(3)).toBe(20_000);
    expect(drain.answerTimesMs.get(4)).toBe(21_000);
  });

  test("is sent after the container's original hook, which runs once after the drain", () => {
    const drain = play({
      events: [...TERMINATION, hook(200, 3)],
      containersWithOriginalHook: ["app"],
      originalHookMs: 700,
    });
    expect(drain.actions.filter((action) => action.kind === "run-chained-hook").map((action) => action.atMs)).toEqual([
      5_110,
    ]);
    expect([drain.answerTimesMs.get(1), drain.answerTimesMs.get(2), drain.answerTimesMs.get(3)]).toEqual([
      5_810, 5_810, 5_810,
    ]);
  });

  test("is sent after the container's original hook even if only the container restarts", () => {
    const drain = play({ events: [hook(0, 1)], containersWithOriginalHook: ["app"], originalHookMs: 700 });
    expect(drain.answerTimesMs.get(1)).toBe(5_700);
  });
});

describe("a drain with a relay", () => {
  test("continues while an EndpointSlice has the Pod as a ready endpoint", () => {
    const drain = play({
      events: [...TERMINATION, relayReported(200, "in", true), relayReported(11_000, "out", true)],
    });
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(11_000);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(11_250);
  });

  test("stops waiting for the withdrawal when the relay stops responding, and reports the waiting time as `withdrawing`", () => {
    const drain = play({
      events: [...TERMINATION, relayReported(200, "in", true), relayReported(9_100, "unknown", false)],
    });
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(9_100);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(9_350);
    const { withdrawing, draining } = drainReportOf(drain.state, 20_000, -1, 0).milliseconds;
    expect(withdrawing).toBe(9_100 - 110);
    expect(draining).toBeLessThanOrEqual(250);
  });

  test("lasts the whole drain delay even if the Pod is withdrawn earlier", () => {
    const drain = play({ events: [...TERMINATION, relayReported(200, "out", true)] });
    expect(drain.answerTimesMs.get(1)).toBe(5_110);
  });

  test("does not wait for the withdrawal if the Pod is not terminating, and reports that EndpointSlices still listed the Pod as ready", () => {
    const drain = play({ events: [...TERMINATION, relayReported(200, "in", false)] });
    expect(drain.answerTimesMs.get(1)).toBe(5_110);
    expect(drain.summary.why).toContain("EndpointSlices still listed the Pod as ready");
  });

  test("ends earlier if the relay reports a shorter grace period, and the app keeps its whole own grace period", () => {
    const drain = play({
      events: [...TERMINATION, relayReported(200, "out", true, { graceSeconds: 50 })],
      pod: busyUntil(999_999),
    });
    expect(drain.answerTimesMs.get(1)).toBe(110 + 18_000);
  });

  test.for([
    { graceSeconds: 32, drainMs: 5_000, title: "the whole drain delay" },
    { graceSeconds: 10, drainMs: 5_000, title: "the whole drain delay" },
    { graceSeconds: 6, drainMs: 3_000, title: "half of the reported grace period" },
    { graceSeconds: 1, drainMs: 1_000, title: "one second" },
  ])(
    "lasts $title if the relay reports a grace period of $graceSeconds s and the app's own grace period is 30 s",
    ({ graceSeconds, drainMs }) => {
      const drain = play({
        events: [...TERMINATION, relayReported(200, "out", true, { graceSeconds })],
        pod: busyUntil(999_999),
      });
      expect(drain.answerTimesMs.get(1)).toBe(110 + drainMs);
    },
  );
});

describe("the manager's timer", () => {
  test("does not fire before a hook is called", () => {
    expect(play({ events: [] }).wakeCount).toBe(0);
  });

  test("fires at most a few dozen times in a quiet drain", () => {
    expect(play({ events: TERMINATION, untilMs: 30_000 }).wakeCount).toBeLessThanOrEqual(40);
  });

  test("fires about once a second in a long drain", () => {
    const settings = { ...ONE_APP, drainTimeoutMs: 600_000 };
    expect(play({ settings, events: TERMINATION, pod: busyUntil(999_999) }).wakeCount).toBeLessThan(1_100);
  });

  test("makes the manager ready for another drain if the Pod continues for a minute after the drain", () => {
    const drain = play({ events: [...TERMINATION, hook(200_000, 3), ownHook(200_010, 4)] });
    expect(drain.answerTimesMs.get(3)).toBe(205_010);
  });

  test("repeats the sample that is taken a minute after the drain if this sample fails", () => {
    const drain = play({
      events: TERMINATION,
      pod: (nowMs) => (nowMs < 70_000 ? UNKNOWN_OBSERVATION : QUIET),
      untilMs: 250_000,
    });
    expect(drain.summary.phase).toBe("idle");
  });

  test("stops after a drain if the Pod has closed its ports", () => {
    const drain = play({
      events: TERMINATION,
      pod: (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 6_000 }),
      untilMs: 900_000,
    });
    expect(drain.summary.phase).toBe("done");
    expect(drain.wakeCount).toBeLessThanOrEqual(40);
  });
});

describe("the report of a drain", () => {
  test("lists after a timeout the remaining clients and the settings that close their connections", () => {
    const drain = play({ events: TERMINATION, pod: busyUntil(999_999) });
    expect(drain.summary.why).toBe(
      "Released 65s after the trigger: the deadline was reached with 1 connection still open: 10.0.0.9:40000 to port 8080 for 64s. To close keep-alive connections earlier, set lastcall.dev/preload: http1 (for HTTP/1.1) or lastcall.dev/driver: http or envoy, or shorten lastcall.dev/drain-timeout.",
    );
  });

  test("states after a timeout without samples why the samples failed", () => {
    expect(play({ events: TERMINATION, pod: () => UNKNOWN_OBSERVATION }).summary.why).toContain(
      "could not be observed: the dump failed",
    );
  });

  test("is empty before the first drain", () => {
    expect(drainReportOf(idleState([]), 5_000, -1, 0)).toMatchObject({
      phase: "idle",
      outcome: "none",
      milliseconds: { withdrawing: 0, deregistration: 0, draining: 0, holding: 0 },
      left: [],
      leftTotal: 0,
    });
  });
});

const anySettings: fc.Arbitrary<DrainSettings> = fc
  .record({
    drainDelayMs: fc.integer({ min: 0, max: 20_000 }),
    deregistrationDelayMs: fc.integer({ min: 0, max: 20_000 }),
    drainTimeoutMs: fc.integer({ min: 0, max: 90_000 }),
    quietPeriodMs: fc.integer({ min: 0, max: 10_000 }),
    drainedWhen: fc.constantFrom("auto", "quiet", "connections", "deadline"),
    classic: fc.boolean(),
    completes: fc.boolean(),
  } as const)
  .map((some) => ({ ...DEFAULT_SETTINGS, ...some, hooks: MESH.hooks }));

const anyObservation: fc.Arbitrary<Observation> = fc.oneof(
  fc.constant(UNKNOWN_OBSERVATION),
  fc
    .record({ openConnections: fc.nat(3), activity: fc.constantFrom("quiet", "busy"), hasUdp: fc.boolean() })
    .map((some) => ({ ...QUIET, ...some, leftTotal: some.openConnections })),
);

describe("for arbitrary sequences of events", () => {
  const anyEvents = fc.array(
    fc.oneof(
      fc.record({ atMs: fc.nat(40_000), kind: fc.constantFrom("app", "istio-proxy", "own") }),
      fc.record({ atMs: fc.nat(40_000), kind: fc.constant("leave" as const), id: fc.nat(8) }),
    ),
    { maxLength: 8 },
  );
  const eventsInOrder = (calls: readonly { atMs: number; kind: string; id?: number }[]): DrainEvent[] =>
    calls.map((one, id) => {
      if (one.kind === "leave") return { kind: "client-disconnected", nowMs: one.atMs, holdId: one.id ?? 0 };
      return one.kind === "own" ? ownHook(one.atMs, id) : hook(one.atMs, id, one.kind);
    });

  test("no app's hook is answered before the end of the drain delay, except with outcome `not-needed` or `restarted`", () => {
    fc.assert(
      fc.property(anySettings, fc.array(anyObservation, { minLength: 1 }), anyEvents, (settings, pods, some) => {
        const pod: PodAt = (nowMs) => pods[Math.floor(nowMs / 700) % pods.length] ?? UNKNOWN_OBSERVATION;
        const triggerMs = 50_000;
        const drain = play({
          settings,
          events: [...eventsInOrder(some), hook(triggerMs, 90), ownHook(triggerMs, 91)],
          pod,
          untilMs: 49_000,
        });
        const { triggeredAtMs, outcome } = drain.summary;
        if (outcome === "not-needed" || outcome === "restarted" || triggeredAtMs < 0) return;
        for (const [id, atMs] of drain.answerTimesMs) {
          const isCalledAtTrigger = id === 90 || id === 91;
          if (isCalledAtTrigger) expect(atMs).toBeGreaterThanOrEqual(triggeredAtMs + settings.drainDelayMs);
        }
      }),
    );
  });

  test("every app's hook is answered by the deadline, even if timers fire late", () => {
    fc.assert(
      fc.property(anySettings, fc.array(anyObservation, { minLength: 1 }), fc.nat(900), (settings, pods, lateMs) => {
        const pod: PodAt = (nowMs) => pods[Math.floor(nowMs / 700) % pods.length] ?? UNKNOWN_OBSERVATION;
        const drain = play({ settings, events: TERMINATION, pod, lateMs, untilMs: 300_000 });
        const deadlineMs = 110 + settings.drainDelayMs + settings.deregistrationDelayMs + settings.drainTimeoutMs;
        expect(drain.summary.deadlineMs === -1 || drain.summary.deadlineMs === deadlineMs).toBe(true);
        expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(deadlineMs + lateMs);
      }),
    );
  });

  test("every connected caller of a hook is answered, in any order of hooks", () => {
    fc.assert(
      fc.property(anySettings, anyEvents, fc.nat(900), (settings, some, lateMs) => {
        const events = eventsInOrder(some);
        const disconnectedHoldIds = new Set(
          events.flatMap((event) => (event.kind === "client-disconnected" ? [event.holdId] : [])),
        );
        const drain = play({ settings, events, lateMs, untilMs: 900_000 });
        for (const event of events) {
          if (event.kind !== "hook-called" && event.kind !== "drain-requested") continue;
          if (!disconnectedHoldIds.has(event.holdId)) expect(drain.answerTimesMs.has(event.holdId)).toBe(true);
        }
        expect(drain.summary.holds).toEqual([]);
      }),
    );
  });

  test("interrupted samples do not end a drain before its deadline", () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const settingsWithHook = { ...settings, completes: false };
        const drain = play({ settings: settingsWithHook, events: TERMINATION, pod: () => UNKNOWN_OBSERVATION });
        expect(drain.summary.outcome).toBe("timeout");
        expect(drain.answerTimesMs.get(1)).toBe(drain.summary.deadlineMs);
      }),
    );
  });

  test("the phase remains `done` for a minute after the drain, regardless of callers", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50_000), { maxLength: 6 }), (times) => {
        const events = times.map((ms, index) =>
          index % 2 === 0 ? hook(6_000 + ms, 10 + index) : ownHook(6_000 + ms, 10 + index),
        );
        const drain = play({ events: [...TERMINATION, ...events], untilMs: 60_000 });
        for (const event of events) {
          if (event.kind === "hook-called" || event.kind === "drain-requested")
            expect(drain.answerTimesMs.get(event.holdId)).toBe(event.nowMs);
        }
        expect(drain.summary.phase).toBe("done");
      }),
    );
  });

  test("a drain ends at most 250 ms after the quiet period that follows the last traffic", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50_000 }), fc.integer({ min: 100, max: 5_000 }), (endMs, quietPeriodMs) => {
        const drain = play({ settings: { ...ONE_APP, quietPeriodMs }, events: TERMINATION, pod: busyUntil(endMs) });
        const delaysEndMs = 110 + 5_000;
        expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(Math.max(delaysEndMs, endMs + quietPeriodMs));
        expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(Math.max(delaysEndMs, endMs + quietPeriodMs) + 250);
      }),
    );
  });
});
