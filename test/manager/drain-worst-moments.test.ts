/** Tests drains with events at critical times, in an unusual order, or repeated. */
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET, relayReported, sigterm } from "./drain-script.ts";

const TERMINATION = [ownHook(100, 2), hook(110, 1)];
const TWO_APPS: DrainSettings = {
  ...ONE_APP,
  hooks: [
    { container: "app", role: "app" },
    { container: "web", role: "app" },
  ],
};
const MESH: DrainSettings = { ...ONE_APP, hooks: [...ONE_APP.hooks, { container: "istio-proxy", role: "mesh-proxy" }] };
const clientDisconnected = (nowMs: number, holdId: number): DrainEvent => ({
  kind: "client-disconnected",
  nowMs,
  holdId,
});

describe("a container restart shortly before the Pod's termination", () => {
  test("does not prevent the detection of two containers that stop together", () => {
    const events = [
      hook(0, 1),
      clientDisconnected(1_000, 1),
      hook(3_000, 2),
      hook(3_010, 3, "web"),
      ownHook(17_900, 4),
    ];
    const drain = play({ settings: TWO_APPS, events });
    expect(drain.summary).toMatchObject({ trigger: "hook", outcome: "drained" });
    expect(drain.answerTimesMs.get(2)).toBe(22_900);
  });

  test("does not shorten the wait for the manager's own hook at the termination", () => {
    const drain = play({ events: [hook(0, 1), clientDisconnected(1_000, 1), hook(4_000, 2), ownHook(6_000, 3)] });
    expect(drain.answerTimesMs.get(2)).toBe(11_000);
  });

  test.for([3_000, 5_500, 20_000])(
    "does not prevent another run of the original hook, which takes %i ms, after the drain and before the answer",
    (originalHookMs) => {
      const drain = play({
        events: [hook(0, 1), ownHook(6_000, 2)],
        containersWithOriginalHook: ["app"],
        originalHookMs,
      });
      const chainedRuns = drain.actions.filter((action) => action.kind === "run-chained-hook");
      expect(chainedRuns.map((action) => action.atMs)).toEqual([5_000, 11_000]);
      expect(drain.answerTimesMs.get(1)).toBeGreaterThan(11_000);
      expect(drain.state.hooks).toMatchObject({ holds: [], running: [] });
    },
  );

  test("does not become the outcome of the running drain", () => {
    const events = [hook(0, 1), sigterm(20_000)];
    const drain = play({ events, pod: busyUntil(999_999), untilMs: 20_500 });
    expect(drain.summary).toMatchObject({ phase: "withdrawing", outcome: "none" });
  });

  test("ends with the answer to its hook even if another hook arrives before a late timer", () => {
    const drain = play({ settings: TWO_APPS, events: [hook(0, 1), hook(5_300, 2, "web")], lateMs: 600 });
    expect(drain.answerTimesMs.get(1)).toBe(5_300);
    expect(drain.summary.holds).toEqual([]);
  });

  test("is reported even if an earlier restart was reported", () => {
    const drain = play({ events: [hook(0, 1), hook(30_000, 2)] });
    const entries = drain.actions.filter(
      (action) => action.kind === "entered" && action.enteredState.phase.name === "idle",
    );
    expect(entries.map((action) => action.atMs)).toEqual([5_000, 35_000]);
  });
});

describe("the original hook of a container", () => {
  test("runs once if the kubelet calls the preStop hook again", () => {
    const events = [...TERMINATION, clientDisconnected(5_500, 1), hook(5_600, 3)];
    const drain = play({ events, containersWithOriginalHook: ["app"], originalHookMs: 2_000 });
    expect(drain.actions.filter((action) => action.kind === "run-chained-hook")).toHaveLength(1);
    expect(drain.answerTimesMs.get(3)).toBe(7_100);
  });
});

describe("with a drain timeout of 0 s", () => {
  const settings: DrainSettings = { ...ONE_APP, drainTimeoutMs: 0 };

  test("a drain ends as `drained` if the Pod was quiet during the delays", () => {
    const drain = play({ settings, events: TERMINATION });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBe(5_100);
  });

  test("a drain ends as `timeout` if the Pod was busy during the delays", () => {
    const drain = play({ settings, events: TERMINATION, pod: busyUntil(999_999) });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drain.answerTimesMs.get(1)).toBe(5_100);
  });
});

describe("the report after the drain", () => {
  test("lists the connections at the end of the drain, not later connections while the proxy's hook waits", () => {
    const pod: PodAt = (nowMs) => (nowMs < 66_000 ? busyUntil(999_999)(nowMs) : QUIET);
    const otherProcesses = (nowMs: number) => ({ known: true, hasOthers: nowMs < 70_000, hasSharedUser: false });
    const drain = play({ settings: MESH, events: [...TERMINATION, hook(120, 3, "istio-proxy")], pod, otherProcesses });
    const report = drainReportOf(drain.state, 80_000, -1, 0);
    expect(report).toMatchObject({ phase: "done", outcome: "timeout", leftTotal: 1 });
    expect(report.left).toHaveLength(1);
  });

  test("has the outcome `drained` if SIGTERM arrives after the drain while hooks wait", () => {
    const otherProcesses = () => ({ known: true, hasOthers: true, hasSharedUser: false });
    const events = [...TERMINATION, hook(120, 3, "istio-proxy"), sigterm(9_000)];
    const drain = play({ settings: MESH, events, otherProcesses });
    expect(drain.actions).toContainEqual({ kind: "exit", code: 3, atMs: 9_000 });
    const report = drainReportOf(drain.state, 80_000, -1, 0);
    expect(report).toMatchObject({ phase: "done", outcome: "drained" });
    expect(report.milliseconds).toMatchObject({ withdrawing: 5_000, draining: 0, holding: 3_900 });
  });

  test("states that the app closed its listeners", () => {
    const pod: PodAt = (nowMs) => (nowMs < 8_000 ? busyUntil(99_999)(nowMs) : { ...QUIET, hasTcpListener: false });
    const drain = play({ events: TERMINATION, pod });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.summary.why).toContain("the app closed its listeners");
  });

  test("states that SIGTERM moved the deadline before the end of the delays", () => {
    const pod: PodAt = (nowMs) => ({ ...QUIET, openConnections: nowMs < 200 ? 1 : 0 });
    const drain = play({ settings: { ...ONE_APP, quietPeriodMs: 500 }, events: [sigterm(50)], pod });
    expect(drain.summary.why).toBe(
      "Released 1.8s after the trigger: the deadline, shortened from 65s, was reached before the end of the delays.",
    );
  });

  test("states that the Pod was not withdrawn if only the withdrawal delayed the drain", () => {
    const offeredStatus = relayReported(200, "in", true, {
      reason: "Service web still has the Pod as a ready endpoint (slice web-1)",
    });
    const drain = play({ events: [...TERMINATION, offeredStatus] });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drain.summary.why).toContain(
      "still listed the Pod as ready: Service web still has the Pod as a ready endpoint (slice web-1)",
    );
  });

  test("has whole milliseconds although the clock has fractions", () => {
    const events = [ownHook(100.123, 2), hook(110.456, 1)];
    const drain = play({ events, pod: busyUntil(7_000.789), lateMs: 0.33 });
    const report = drainReportOf(drain.state, 9_999.99, -1, 0);
    expect(Object.values(report.milliseconds).every(Number.isInteger)).toBe(true);
    expect(report.why).not.toMatch(/[0-9]\.[0-9]{2}/);
  });

  test("states a minimum for the time without traffic at the end of the drain", () => {
    const drain = play({ events: TERMINATION, pod: busyUntil(1_000) });
    expect(drain.summary.why).toContain("followed by at least 2s of quiet");
  });

  test("does not state 0 active requests if the count alternates between zero and other values", () => {
    const settings: DrainSettings = { ...ONE_APP, driver: "http", activeUrl: "http://127.0.0.1:8080/active" };
    let calls = 0;
    const active = () => {
      calls += 1;
      return calls % 3;
    };
    const drain = play({ settings: { ...settings, drainTimeoutMs: 3_000 }, events: TERMINATION, active });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drain.summary.why).not.toContain("0 active");
  });
});

describe("a Pod that continues after its drain", () => {
  test("makes the manager ready for another drain even if the Pod has only UDP sockets", () => {
    const pod: PodAt = () => ({ ...QUIET, hasTcpListener: false, hasUdp: true });
    expect(play({ events: TERMINATION, pod, untilMs: 100_000 }).summary.phase).toBe("idle");
  });

  test("is sampled at most once in five seconds, for any number of preStop calls", () => {
    let samples = 0;
    const pod: PodAt = (nowMs) => {
      if (nowMs > 100_000) samples += 1;
      return { ...QUIET, hasTcpListener: nowMs < 5_000 };
    };
    const calls = Array.from({ length: 200 }, (_, at) => hook(200_000 + at * 100, 10 + at));
    const drain = play({ events: [...TERMINATION, ...calls], pod, untilMs: 240_000 });
    expect(samples).toBeLessThanOrEqual(5);
    expect(drain.summary.phase).toBe("done");
    expect(calls.every((one) => one.kind === "hook-called" && drain.answerTimesMs.has(one.holdId))).toBe(true);
  });

  test("is drained again at the next trigger even if every sample after the drain fails", () => {
    const pod: PodAt = (nowMs) => (nowMs < 20_000 ? QUIET : { known: false, why: "the dump failed", blind: false });
    const drain = play({ events: [...TERMINATION, hook(200_000, 3), ownHook(201_000, 4)], pod, untilMs: 250_000 });
    expect(drain.answerTimesMs.get(3)).toBeUndefined();
    expect(drain.summary.phase).toBe("draining");
  });

  test("is drained again even if its app starts more than a minute later", () => {
    const pod: PodAt = (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 5_000 || nowMs > 120_000 });
    const drain = play({ events: [...TERMINATION, hook(200_000, 3), ownHook(200_010, 4)], pod });
    expect(drain.answerTimesMs.get(3)).toBe(205_010);
    expect(drain.summary.outcome).toBe("drained");
  });
});

describe("a proxy that stops during its drain", () => {
  const settings: DrainSettings = { ...ONE_APP, driver: "envoy" };
  const withoutListener = { ...QUIET, hasTcpListener: false };

  test("does not end the drain if it returns before the next count of requests fails", () => {
    const drain = play({
      settings,
      events: TERMINATION,
      pod: (nowMs) => (nowMs < 6_000 ? QUIET : nowMs < 10_000 ? withoutListener : busyUntil(20_000)(nowMs)),
      active: (nowMs) => (nowMs < 6_000 ? 3 : nowMs < 11_000 ? -1 : nowMs < 20_000 ? 1 : 0),
      // The count that is in progress when the proxy returns takes longer than the absence after which a driver stops counting.
      countMs: (nowMs) => (nowMs >= 9_500 && nowMs < 10_000 ? 2_000 : 1),
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(22_000);
  });

  test("ends the drain after an absence of five seconds", () => {
    const drain = play({
      settings,
      events: TERMINATION,
      pod: (nowMs) => (nowMs < 6_000 ? QUIET : withoutListener),
      active: (nowMs) => (nowMs < 6_000 ? 3 : -1),
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(10_500);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(11_500);
  });

  test("does not cause the outcome `timeout` at the deadline, because no client remains", () => {
    const drain = play({
      settings: { ...settings, drainTimeoutMs: 3_000 },
      events: TERMINATION,
      pod: (nowMs) => (nowMs < 6_000 ? QUIET : withoutListener),
      active: (nowMs) => (nowMs < 6_000 ? 3 : -1),
    });
    expect(drain.answerTimesMs.get(1)).toBe(8_100);
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.summary.why).toContain("the app closed its listeners, and no client is connected");
  });
});
