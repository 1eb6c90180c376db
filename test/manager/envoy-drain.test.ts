/** Tests drains with a driver that also reports traffic between two counts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { COUNT_INTERVAL_MS } from "../../src/manager/drain/pace.ts";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy/envoy-driver.ts";
import { streamHttp } from "../../src/manager/http/http-client.ts";
import { effectiveSettings } from "../../src/manager/manager-driver.ts";
import { type Driver, NO_RESPONSE } from "../../src/manager/ports.ts";
import { eventually } from "../time/eventually.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET, type Script, sigterm } from "./drain-script.ts";
import { listenerLines, startFakeEnvoy } from "./fake-envoy.ts";

const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy" };
const TERMINATION = [hook(100, 1), ownHook(110, 2)];
const DELAYS_END_MS = 110 + 5_000;
const IDLE_CLIENT: PodAt = () => ({ ...QUIET, openConnections: 1, leftTotal: 1 });

const countTimesOf = (actions: readonly { kind: string; atMs: number }[]) =>
  actions.filter((action) => action.kind === "count-active").map((action) => action.atMs);

describe("a drain with the Envoy driver", () => {
  test("ends after the delays if no connection was open and no request active for a quiet period", () => {
    const drain = play({ settings: ENVOY, events: TERMINATION, active: () => 0 });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(DELAYS_END_MS);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(DELAYS_END_MS + 10);
  });

  test("waits a quiet period after the delays if clients are connected", () => {
    const drain = play({ settings: ENVOY, events: TERMINATION, active: () => 0, pod: IDLE_CLIENT });
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(DELAYS_END_MS + 2_000);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(DELAYS_END_MS + 2_250);
  });

  test("starts to count requests one quiet period before the end of the delays", () => {
    const drain = play({
      settings: { ...ENVOY, deregistrationDelayMs: 60_000 },
      events: TERMINATION,
      active: () => 0,
    });
    expect(countTimesOf(drain.actions)[0]).toBeGreaterThanOrEqual(DELAYS_END_MS + 60_000 - 2_400);
  });

  test("sends Envoy the drain request after the delays", () => {
    const drain = play({ settings: ENVOY, events: TERMINATION, active: () => 0, pod: IDLE_CLIENT });
    const starts = drain.actions.filter((action) => action.kind === "start-driver-drain");
    expect(starts.map((action) => action.atMs)).toEqual([DELAYS_END_MS]);
  });

  test("ends within 250 ms after the quiet period, whenever the traffic ends", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 300, max: 5_000 }), (endMs, quietPeriodMs) => {
        const drain = play({
          settings: { ...ENVOY, quietPeriodMs },
          events: TERMINATION,
          active: (nowMs) => (nowMs < endMs ? 2 : 0),
        });
        const dueMs = Math.max(DELAYS_END_MS, endMs + quietPeriodMs);
        expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(dueMs);
        expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(dueMs + 250);
      }),
    );
  });

  test("continues while the count of requests is unknown", () => {
    const drain = play({ settings: ENVOY, events: TERMINATION });
    expect(drain.summary.outcome).toBe("timeout");
  });

  test("cancels Envoy's drain if the Pod continues", () => {
    const drain = play({ settings: ENVOY, events: TERMINATION, active: () => 0, untilMs: 80_000 });
    expect(drain.summary.phase).toBe("idle");
    expect(drain.actions.filter((action) => action.kind === "cancel-driver-drain")).toHaveLength(1);
  });

  test("does not cancel Envoy's drain if it was not started", () => {
    const events = [hook(100, 1)];
    const drain = play({ settings: ENVOY, events, active: () => 0, untilMs: 80_000 });
    expect(drain.actions.map((action) => action.kind)).not.toContain("cancel-driver-drain");
  });
});

describe("an absence of the proxy", () => {
  const NO_LISTENER: PodAt = () => ({ ...QUIET, hasTcpListener: false });
  const podWithoutListenerFrom =
    (fromMs: number, untilMs: number): PodAt =>
    (nowMs) =>
      nowMs >= fromMs && nowMs < untilMs ? NO_LISTENER(nowMs) : IDLE_CLIENT(nowMs);

  test("does not end the drain if it is short, because the clients reconnect", () => {
    const drain = play({
      settings: ENVOY,
      events: TERMINATION,
      pod: podWithoutListenerFrom(7_000, 11_000),
      active: (nowMs) => (nowMs >= 7_000 && nowMs < 11_000 ? -1 : nowMs < 20_000 ? 1 : 0),
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(22_000);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(22_250);
  });

  test("does not end the drain if it is short and occurs during the delays, after counts of requests", () => {
    const drain = play({
      settings: { ...ENVOY, deregistrationDelayMs: 10_000 },
      events: TERMINATION,
      pod: podWithoutListenerFrom(14_000, 16_000),
      active: (nowMs) => (nowMs >= 14_000 && nowMs < 16_000 ? -1 : 0),
    });
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(DELAYS_END_MS + 10_000);
  });

  test("that does not end is followed by the end of the drain, five seconds after the last count of requests", () => {
    const drain = play({
      settings: ENVOY,
      events: TERMINATION,
      pod: podWithoutListenerFrom(9_000, Number.POSITIVE_INFINITY),
      active: (nowMs) => (nowMs < 9_000 ? 1 : -1),
    });
    expect(drain.summary).toMatchObject({
      outcome: "drained",
      why: expect.stringContaining("the app closed its listeners"),
    });
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(13_700);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(14_250);
  });

  test("delays the end of the drain by up to five seconds in each drain of the same Pod", () => {
    const settings = { ...ENVOY, drainTimeoutMs: 1_000 };
    const secondTermination = [hook(200_000, 3), ownHook(200_010, 4)];
    const drain = play({
      settings: settings,
      events: [...TERMINATION, ...secondTermination],
      pod: (nowMs) => (nowMs < 190_000 ? IDLE_CLIENT(nowMs) : NO_LISTENER(nowMs)),
      active: (nowMs) => (nowMs < 190_000 ? 1 : NO_RESPONSE),
      untilMs: 230_000,
    });
    expect(drain.answerTimesMs.get(4)).toBeGreaterThanOrEqual(205_000);
    expect(drain.answerTimesMs.get(4)).toBeLessThanOrEqual(205_020);
  });
});

describe("a proxy that is absent at the trigger", () => {
  const NO_LISTENER = { ...QUIET, hasTcpListener: false };
  const TRIGGER_MS = 110;
  const WAIT_MS = 5_000;
  const DRAINED_WHEN_VALUES = ["auto", "requests", "quiet", "connections", "deadline"] as const;
  const absentProxy: Script = {
    settings: ENVOY,
    events: TERMINATION,
    pod: () => NO_LISTENER,
    active: () => NO_RESPONSE,
  };
  /** The proxy is absent until the given time, and then has a client that stays connected for ten seconds. */
  const proxyReturningAt = (returnMs: number): Script => ({
    ...absentProxy,
    pod: (nowMs) => (nowMs < returnMs ? NO_LISTENER : busyUntil(returnMs + 10_000)(nowMs)),
    active: (nowMs) => (nowMs < returnMs ? NO_RESPONSE : nowMs < returnMs + 10_000 ? 1 : 0),
  });

  test("delays the drain until the proxy has returned and its clients have disconnected", () => {
    const drain = play(proxyReturningAt(4_500));
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(16_500);
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(16_750);
  });

  test.for(DRAINED_WHEN_VALUES)(
    "and does not return delays the drain for five seconds if `drained-when` is `%s`",
    (drainedWhen) => {
      const drain = play({ ...absentProxy, settings: { ...ENVOY, drainedWhen } });
      expect(drain.summary).toMatchObject({
        outcome: "not-needed",
        why: "Nothing in the Pod listens on a non-loopback address, so there was nothing to drain; the Pod's proxy did not respond within 5s.",
      });
      expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(TRIGGER_MS + WAIT_MS);
      expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + WAIT_MS + 5);
    },
  );

  test("delays the drain for at most five seconds even if the admin interface hangs", () => {
    const drain = play({ ...absentProxy, countMs: () => 4_000 });
    expect(drain.summary.outcome).toBe("not-needed");
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + WAIT_MS + 5);
  });

  test("does not delay the drain beyond the deadline", () => {
    const drain = play({ ...absentProxy, settings: { ...ENVOY, drainDelayMs: 500, drainTimeoutMs: 1_000 } });
    expect(drain.summary.outcome).toBe("not-needed");
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 1_505);
    const stoppedDrain = play({ ...absentProxy, events: [hook(100, 1), sigterm(TRIGGER_MS)] });
    expect(stoppedDrain.summary.outcome).toBe("not-needed");
    expect(stoppedDrain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 1_805);
  });

  test("does not delay the drain if the admin interface responds without usable statistics", () => {
    const drain = play({ ...absentProxy, active: () => -1 });
    expect(drain.summary).toMatchObject({ outcome: "not-needed", why: expect.stringMatching(/nothing to drain\.$/) });
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 20);
  });

  test("and opens its ports during the driver's request is detected by a later sample, so its clients delay the drain", () => {
    const script = proxyReturningAt(150);
    const drain = play({
      ...script,
      settings: { ...ENVOY, drainedWhen: "quiet" },
      active: () => -1,
      countMs: () => 100,
    });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(12_150);
  });

  test("does not cause the outcome `timeout` if its response arrives at the deadline", () => {
    const settings: DrainSettings = { ...ENVOY, drainDelayMs: 500, drainTimeoutMs: 1_000 };
    const drain = play({ ...absentProxy, settings, countMs: (nowMs) => TRIGGER_MS + 1_500 - nowMs });
    expect(drain.summary.outcome).toBe("not-needed");
  });

  test("does not delay the drain if Istio's proxy responds and its app does not have a listener", () => {
    const drain = play({ ...absentProxy, settings: { ...ENVOY, driver: "istio" }, active: () => 0 });
    expect(drain.summary.outcome).toBe("not-needed");
    expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 20);
  });

  test("delays the drain while its statistics contain listeners that are not open yet", () => {
    const drain = play({ ...proxyReturningAt(3_000), active: (nowMs) => (nowMs < 13_000 ? 1 : 0) });
    expect(drain.summary.outcome).toBe("drained");
    expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(15_000);
    const drainWithoutListener = play({
      ...absentProxy,
      active: () => 0,
      settings: { ...ENVOY, drainDelayMs: 60_000 },
    });
    expect(drainWithoutListener.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + WAIT_MS + 5);
  });

  test("does not delay the drain if the driver is not envoy", () => {
    for (const driver of ["none", "http", "linkerd"] as const) {
      const drain = play({ ...absentProxy, settings: { ...ENVOY, driver } });
      expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 20);
    }
  });

  test("is detected if it returns within five seconds, and delays the drain by at most five seconds", () => {
    const anySettings = fc.record({
      driver: fc.constantFrom("envoy" as const, "istio" as const),
      drainedWhen: fc.constantFrom(...DRAINED_WHEN_VALUES),
      drainDelayMs: fc.integer({ min: 1, max: 12_000 }),
      drainTimeoutMs: fc.integer({ min: 0, max: 60_000 }),
    });
    const anyTimes = fc.record({
      returnMs: fc.integer({ min: 111, max: 12_000 }),
      countMs: fc.integer({ min: 0, max: 4_000 }),
    });
    fc.assert(
      fc.property(anySettings, anyTimes, (plan, { returnMs, countMs }) => {
        const settings = { ...ENVOY, ...plan };
        const deadlineMs = TRIGGER_MS + plan.drainDelayMs + plan.drainTimeoutMs;
        const waitEndMs = Math.min(TRIGGER_MS + WAIT_MS, deadlineMs);
        const drain = play({ ...proxyReturningAt(returnMs), settings, countMs: () => countMs });
        const atMs = drain.answerTimesMs.get(1);
        // The first count that starts after the proxy's return detects the proxy. An earlier count may still be in progress.
        if (returnMs + COUNT_INTERVAL_MS + 2 * countMs < waitEndMs)
          expect(drain.summary.outcome).not.toBe("not-needed");
        if (returnMs > waitEndMs + 5) {
          expect(drain.summary.outcome).toBe("not-needed");
          expect(atMs).toBeGreaterThanOrEqual(waitEndMs);
          expect(atMs).toBeLessThanOrEqual(waitEndMs + 5);
        }
        expect(atMs).toBeLessThanOrEqual(Math.max(deadlineMs, TRIGGER_MS) + 5);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the reported settings of a drain", () => {
  const createStubDriver = (isCounting: boolean): Driver => ({
    name: "envoy",
    canCount: () => isCounting,
    startDrain: (done) => done(""),
    cancelDrain: (done) => done(""),
    countActive: (done) => done(-1, false),
    dialCount: () => 0,
  });

  test("replace the value `auto` of `drained-when` by `quiet` if the driver cannot count, but not another value", () => {
    expect(effectiveSettings(createStubDriver(true), ENVOY).drainedWhen).toBe("auto");
    expect(effectiveSettings(createStubDriver(false), ENVOY).drainedWhen).toBe("quiet");
    const explicitSettings: DrainSettings = { ...ENVOY, drainedWhen: "requests" };
    expect(effectiveSettings(createStubDriver(false), explicitSettings).drainedWhen).toBe("requests");
  });
});

describe("a new Envoy process", () => {
  const createDriverOf = (envoy: { readonly url: string }) =>
    createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, () => {});
  const countActive = (driver: Driver) => new Promise<number>((done) => driver.countActive(done));

  test("receives all drain requests if the previous process exited between them", async () => {
    const envoy = await startFakeEnvoy();
    const driver = createDriverOf(envoy);
    await countActive(driver);
    envoy.faults.push(503);
    const drainResult = new Promise<string>((done) => driver.startDrain(done));
    // The driver repeats the refused request only after 200 ms, so Envoy restarts before the driver repeats it.
    await eventually(() => expect(envoy.calls).toHaveLength(1));
    envoy.restart();
    await countActive(driver);
    expect(await drainResult).toBe("");
    const callsBefore = envoy.calls.length;
    await countActive(driver);
    await eventually(() => expect(envoy.calls).toHaveLength(callsBefore + 2));
    expect(envoy.calls.slice(callsBefore)).toEqual([
      "POST /healthcheck/fail",
      "POST /drain_listeners?graceful&skip_exit",
    ]);
    await envoy.stop();
  });

  test("gets the drain request even if it inherited all statistics of the previous process", async () => {
    const envoy = await startFakeEnvoy();
    const driver = createDriverOf(envoy);
    await countActive(driver);
    expect(await new Promise((done) => driver.startDrain(done))).toBe("");
    await countActive(driver);
    expect(envoy.calls).toHaveLength(2);
    envoy.hotRestart();
    await countActive(driver);
    await eventually(() => expect([envoy.health, envoy.isDraining]).toEqual(["failed", true]));
    await countActive(driver);
    expect(envoy.calls).toHaveLength(4);
    await envoy.stop();
  });

  test("gets the drain request even if its admin interface had more requests than the previous process", async () => {
    const envoy = await startFakeEnvoy();
    const driver = createDriverOf(envoy);
    await countActive(driver);
    expect(await new Promise((done) => driver.startDrain(done))).toBe("");
    envoy.defaultFault = "refuse";
    expect(await countActive(driver)).toBe(NO_RESPONSE);
    envoy.defaultFault = undefined;
    envoy.restart();
    for (let n = 0; n < 9; n += 1) await fetch(envoy.url);
    await countActive(driver);
    await eventually(() => expect([envoy.health, envoy.isDraining]).toEqual(["failed", true]));
    await envoy.stop();
  });
});

describe("an Envoy", () => {
  const startDrain = (driver: Driver) => new Promise<string>((done) => driver.startDrain(done));
  const cancelDrain = (driver: Driver) => new Promise<string>((done) => driver.cancelDrain(done));

  test("whose Pod continues after a drain passes its health checks again, and the log reports listeners that stay drained", async () => {
    const envoy = await startFakeEnvoy();
    const messages: string[] = [];
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, (message) =>
      messages.push(message),
    );
    expect(await startDrain(driver)).toBe("");
    expect(envoy.health).toBe("failed");
    expect(await cancelDrain(driver)).toBe("");
    expect(envoy.health).toBe("ok");
    expect(messages).toEqual(["driver cannot revert the drain completely"]);
    await envoy.stop();
  });

  test("whose Pod continues after a drain does not get another drain request from a later count", async () => {
    const envoy = await startFakeEnvoy();
    envoy.stats = () => listenerLines("0.0.0.0_80");
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, () => {});
    await startDrain(driver);
    await cancelDrain(driver);
    envoy.restart();
    for (let n = 0; n < 3; n += 1) await new Promise((done) => driver.countActive(done));
    expect(envoy.calls.at(-1)).toBe("POST /healthcheck/ok");
    await envoy.stop();
  });

  test("does not get a request to cancel a drain that was not started", async () => {
    const envoy = await startFakeEnvoy();
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, () => {});
    expect(await cancelDrain(driver)).toBe("");
    expect(envoy.calls).toEqual([]);
    await envoy.stop();
  });

  test.for(["unix:relative.sock", "unix:/", `unix:/${"x".repeat(107)}`, "unix:/a\nb", "http://envoy:9901"])(
    "with the invalid URL %j is not called, and the reason is reported",
    async (driverUrl) => {
      const driver = createEnvoyDriver({ ...ENVOY, driverUrl }, streamHttp, () => {});
      expect(await startDrain(driver)).toContain("expected an http URL with an IP, or unix:/PATH of at most 107 bytes");
      expect(driver.canCount()).toBe(false);
      expect(await new Promise((done) => driver.countActive(done))).toBe(-1);
    },
  );
});
