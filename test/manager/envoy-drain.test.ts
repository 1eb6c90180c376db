/** What the drain makes of a driver that tells what came and went between its counts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { COUNT_MS } from "../../src/manager/drain/pace.ts";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy/envoy-driver.ts";
import { streamHttp } from "../../src/manager/http/http-client.ts";
import { effectiveSettings } from "../../src/manager/manager-driver.ts";
import { type Driver, NOT_ANSWERED } from "../../src/manager/ports.ts";
import { eventually } from "../time/eventually.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET, type Script, sigterm } from "./drain-script.ts";
import { listenerLines, startFakeEnvoy } from "./fake-envoy.ts";

const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy" };
const END = [hook(100, 1), ownHook(110, 2)];
const FLOOR_MS = 110 + 5_000;
const IDLE_CLIENT: PodAt = () => ({ ...QUIET, openConnections: 1, leftTotal: 1 });

const counts = (actions: readonly { kind: string; atMs: number }[]) =>
  actions.filter((action) => action.kind === "count-active").map((action) => action.atMs);

describe("a drain with Envoy", () => {
  test("is over with the delays where no one was active for a quiet period and no one is connected", () => {
    const played = play({ settings: ENVOY, events: END, active: () => 0 });
    expect(played.state.outcome).toBe("drained");
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(FLOOR_MS);
    expect(played.answered.get(1)).toBeLessThanOrEqual(FLOOR_MS + 10);
  });

  test("gives clients that are connected the quiet period to leave", () => {
    const played = play({ settings: ENVOY, events: END, active: () => 0, pod: IDLE_CLIENT });
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(FLOOR_MS + 2_000);
    expect(played.answered.get(1)).toBeLessThanOrEqual(FLOOR_MS + 2_250);
  });

  test("asks nothing before the last quiet period of the delays", () => {
    const played = play({ settings: { ...ENVOY, deregistrationDelayMs: 60_000 }, events: END, active: () => 0 });
    expect(counts(played.actions)[0]).toBeGreaterThanOrEqual(FLOOR_MS + 60_000 - 2_400);
  });

  test("tells the driver after the delays and never before", () => {
    const played = play({ settings: ENVOY, events: END, active: () => 0, pod: IDLE_CLIENT });
    const told = played.actions.filter((action) => action.kind === "start-driver-drain");
    expect(told.map((action) => action.atMs)).toEqual([FLOOR_MS]);
  });

  test("releases within a quarter of a second after the quiet period, whenever the work ends", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 300, max: 5_000 }), (endMs, quietPeriodMs) => {
        const played = play({
          settings: { ...ENVOY, quietPeriodMs },
          events: END,
          active: (nowMs) => (nowMs < endMs ? 2 : 0),
        });
        const dueMs = Math.max(FLOOR_MS, endMs + quietPeriodMs);
        expect(played.answered.get(1)).toBeGreaterThanOrEqual(dueMs);
        expect(played.answered.get(1)).toBeLessThanOrEqual(dueMs + 250);
      }),
    );
  });

  test("never ends by a count that is not known", () => {
    const played = play({ settings: ENVOY, events: END });
    expect(played.state.outcome).toBe("timeout");
  });

  test("takes it back when the Pod turns out to stay", () => {
    const played = play({ settings: ENVOY, events: END, active: () => 0, untilMs: 80_000 });
    expect(played.state.phase).toBe("idle");
    expect(played.actions.filter((action) => action.kind === "cancel-driver-drain")).toHaveLength(1);
  });

  test("takes nothing back that was never said", () => {
    const events = [hook(100, 1)];
    const played = play({ settings: ENVOY, events, active: () => 0, untilMs: 80_000 });
    expect(played.actions.map((action) => action.kind)).not.toContain("cancel-driver-drain");
  });
});

describe("a proxy that is gone for a moment", () => {
  const GONE: PodAt = () => ({ ...QUIET, hasTcpListener: false });
  const goneFrom =
    (fromMs: number, untilMs: number): PodAt =>
    (nowMs) =>
      nowMs >= fromMs && nowMs < untilMs ? GONE(nowMs) : IDLE_CLIENT(nowMs);

  test("ends no drain: its clients come back", () => {
    const played = play({
      settings: ENVOY,
      events: END,
      pod: goneFrom(7_000, 11_000),
      active: (nowMs) => (nowMs >= 7_000 && nowMs < 11_000 ? -1 : nowMs < 20_000 ? 1 : 0),
    });
    expect(played.state.outcome).toBe("drained");
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(22_000);
    expect(played.answered.get(1)).toBeLessThanOrEqual(22_250);
  });

  test("ends no drain during the delays either, once it was counted", () => {
    const played = play({
      settings: { ...ENVOY, deregistrationDelayMs: 10_000 },
      events: END,
      pod: goneFrom(14_000, 16_000),
      active: (nowMs) => (nowMs >= 14_000 && nowMs < 16_000 ? -1 : 0),
    });
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(FLOOR_MS + 10_000);
  });

  test("and does not come back ends it five seconds after it was last counted", () => {
    const played = play({
      settings: ENVOY,
      events: END,
      pod: goneFrom(9_000, Number.POSITIVE_INFINITY),
      active: (nowMs) => (nowMs < 9_000 ? 1 : -1),
    });
    expect(played.state).toMatchObject({
      outcome: "drained",
      why: expect.stringContaining("the app closed its listeners"),
    });
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(13_700);
    expect(played.answered.get(1)).toBeLessThanOrEqual(14_250);
  });

  test("gets its five seconds again in the next drain, and not those of an earlier one", () => {
    const restart = { ...ENVOY, drainTimeoutMs: 1_000 };
    const again = [hook(200_000, 3), ownHook(200_010, 4)];
    const played = play({
      settings: restart,
      events: [...END, ...again],
      pod: (nowMs) => (nowMs < 190_000 ? IDLE_CLIENT(nowMs) : GONE(nowMs)),
      active: (nowMs) => (nowMs < 190_000 ? 1 : NOT_ANSWERED),
      untilMs: 230_000,
    });
    expect(played.answered.get(4)).toBeGreaterThanOrEqual(205_000);
    expect(played.answered.get(4)).toBeLessThanOrEqual(205_020);
  });
});

describe("a proxy that is not there when its Pod is told to end", () => {
  const GONE = { ...QUIET, hasTcpListener: false };
  const TRIGGER_MS = 110;
  const WAIT_MS = 5_000;
  const RULES = ["auto", "requests", "quiet", "connections", "deadline"] as const;
  const never: Script = { settings: ENVOY, events: END, pod: () => GONE, active: () => NOT_ANSWERED };
  /** Back at a time, with a client who stays for ten seconds. */
  const backAt = (backMs: number): Script => ({
    ...never,
    pod: (nowMs) => (nowMs < backMs ? GONE : busyUntil(backMs + 10_000)(nowMs)),
    active: (nowMs) => (nowMs < backMs ? NOT_ANSWERED : nowMs < backMs + 10_000 ? 1 : 0),
  });

  test("is waited for until it is back, and then until its clients have gone", () => {
    const played = play(backAt(4_500));
    expect(played.state.outcome).toBe("drained");
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(16_500);
    expect(played.answered.get(1)).toBeLessThanOrEqual(16_750);
  });

  test.for(RULES)("and never comes holds its Pod for five seconds, where %s ends the drain", (drainedWhen) => {
    const played = play({ ...never, settings: { ...ENVOY, drainedWhen } });
    expect(played.state).toMatchObject({
      outcome: "not-needed",
      why: "Nothing in the Pod listens on a non-loopback address, so there was nothing to drain; its proxy did not answer within 5s.",
    });
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(TRIGGER_MS + WAIT_MS);
    expect(played.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + WAIT_MS + 5);
  });

  test("and whose admin interface hangs holds its Pod no longer", () => {
    const played = play({ ...never, countMs: () => 4_000 });
    expect(played.state.outcome).toBe("not-needed");
    expect(played.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + WAIT_MS + 5);
  });

  test("is not waited for beyond the deadline", () => {
    const played = play({ ...never, settings: { ...ENVOY, drainDelayMs: 500, drainTimeoutMs: 1_000 } });
    expect(played.state.outcome).toBe("not-needed");
    expect(played.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 1_505);
    const stopped = play({ ...never, events: [hook(100, 1), sigterm(TRIGGER_MS)] });
    expect(stopped.state.outcome).toBe("not-needed");
    expect(stopped.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 1_805);
  });

  test("holds no one up where something answers and its statistics tell nothing", () => {
    const played = play({ ...never, active: () => -1 });
    expect(played.state).toMatchObject({ outcome: "not-needed", why: expect.stringMatching(/nothing to drain\.$/) });
    expect(played.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 20);
  });

  test("and whose ports opened while it answered is not judged by what was seen before", () => {
    const back = backAt(150);
    const played = play({
      ...back,
      settings: { ...ENVOY, drainedWhen: "quiet" },
      active: () => -1,
      countMs: () => 100,
    });
    expect(played.state.outcome).toBe("drained");
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(12_150);
  });

  test("is no timeout at the deadline, where an answer comes in the same moment", () => {
    const settings: DrainSettings = { ...ENVOY, drainDelayMs: 500, drainTimeoutMs: 1_000 };
    const played = play({ ...never, settings, countMs: (nowMs) => TRIGGER_MS + 1_500 - nowMs });
    expect(played.state.outcome).toBe("not-needed");
  });

  test("holds no one up where Istio's proxy is there and its app listens nowhere", () => {
    const played = play({ ...never, settings: { ...ENVOY, driver: "istio" }, active: () => 0 });
    expect(played.state.outcome).toBe("not-needed");
    expect(played.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 20);
  });

  test("is waited for while its statistics show listeners before it listens", () => {
    const played = play({ ...backAt(3_000), active: (nowMs) => (nowMs < 13_000 ? 1 : 0) });
    expect(played.state.outcome).toBe("drained");
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(15_000);
    const listensNever = play({ ...never, active: () => 0, settings: { ...ENVOY, drainDelayMs: 60_000 } });
    expect(listensNever.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + WAIT_MS + 5);
  });

  test("holds up no Pod without such a driver", () => {
    for (const driver of ["none", "http", "linkerd"] as const) {
      const played = play({ ...never, settings: { ...ENVOY, driver } });
      expect(played.answered.get(1)).toBeLessThanOrEqual(TRIGGER_MS + 20);
    }
  });

  test("is found again whenever it comes within its time, and costs no more than that", () => {
    const plans = fc.record({
      driver: fc.constantFrom("envoy" as const, "istio" as const),
      drainedWhen: fc.constantFrom(...RULES),
      drainDelayMs: fc.integer({ min: 1, max: 12_000 }),
      drainTimeoutMs: fc.integer({ min: 0, max: 60_000 }),
    });
    const times = fc.record({
      backMs: fc.integer({ min: 111, max: 12_000 }),
      countMs: fc.integer({ min: 0, max: 4_000 }),
    });
    fc.assert(
      fc.property(plans, times, (plan, { backMs, countMs }) => {
        const settings = { ...ENVOY, ...plan };
        const deadlineMs = TRIGGER_MS + plan.drainDelayMs + plan.drainTimeoutMs;
        const awaitedMs = Math.min(TRIGGER_MS + WAIT_MS, deadlineMs);
        const played = play({ ...backAt(backMs), settings, countMs: () => countMs });
        const atMs = played.answered.get(1);
        // It is seen by the next question after it came, and the answer takes its time.
        if (backMs + COUNT_MS + 2 * countMs < awaitedMs) expect(played.state.outcome).not.toBe("not-needed");
        if (backMs > awaitedMs + 5) {
          expect(played.state.outcome).toBe("not-needed");
          expect(atMs).toBeGreaterThanOrEqual(awaitedMs);
          expect(atMs).toBeLessThanOrEqual(awaitedMs + 5);
        }
        expect(atMs).toBeLessThanOrEqual(Math.max(deadlineMs, TRIGGER_MS) + 5);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the rules of the moment", () => {
  const blind = (sees: boolean): Driver => ({
    name: "envoy",
    counts: () => sees,
    startDrain: (done) => done(""),
    cancelDrain: (done) => done(""),
    countActive: (done) => done(-1, false),
    dials: () => 0,
  });

  test("leave auto to the sockets where the driver sees nothing, and obey what was asked for", () => {
    expect(effectiveSettings(blind(true), ENVOY).drainedWhen).toBe("auto");
    expect(effectiveSettings(blind(false), ENVOY).drainedWhen).toBe("quiet");
    const asked: DrainSettings = { ...ENVOY, drainedWhen: "requests" };
    expect(effectiveSettings(blind(false), asked).drainedWhen).toBe("requests");
  });
});

describe("an Envoy that is another process than it was", () => {
  const drainOf = (envoy: { readonly url: string }) =>
    createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, () => {});
  const counted = (driver: Driver) => new Promise<number>((done) => driver.countActive(done));

  test("is told all of it where it came while its predecessor was being told", async () => {
    const envoy = await startFakeEnvoy();
    const driver = drainOf(envoy);
    await counted(driver);
    envoy.faults.push(503);
    const told = new Promise<string>((done) => driver.startDrain(done));
    // Refused once, the call is made again after 200 ms.
    await eventually(() => expect(envoy.calls).toHaveLength(1));
    envoy.restart();
    await counted(driver);
    expect(await told).toBe("");
    const before = envoy.calls.length;
    await counted(driver);
    await eventually(() => expect(envoy.calls).toHaveLength(before + 2));
    expect(envoy.calls.slice(before)).toEqual(["POST /healthcheck/fail", "POST /drain_listeners?graceful&skip_exit"]);
    await envoy.stop();
  });

  test("is told where it took over all of its predecessor's counts", async () => {
    const envoy = await startFakeEnvoy();
    const driver = drainOf(envoy);
    await counted(driver);
    expect(await new Promise((done) => driver.startDrain(done))).toBe("");
    await counted(driver);
    expect(envoy.calls).toHaveLength(2);
    envoy.takeOver();
    await counted(driver);
    await eventually(() => expect([envoy.health, envoy.draining]).toEqual(["failed", true]));
    await counted(driver);
    expect(envoy.calls).toHaveLength(4);
    await envoy.stop();
  });

  test("is told even where others have asked it more often than its predecessor", async () => {
    const envoy = await startFakeEnvoy();
    const driver = drainOf(envoy);
    await counted(driver);
    expect(await new Promise((done) => driver.startDrain(done))).toBe("");
    envoy.always = "refuse";
    expect(await counted(driver)).toBe(NOT_ANSWERED);
    envoy.always = undefined;
    envoy.restart();
    for (let n = 0; n < 9; n += 1) await fetch(envoy.url);
    await counted(driver);
    await eventually(() => expect([envoy.health, envoy.draining]).toEqual(["failed", true]));
    await envoy.stop();
  });
});

describe("an Envoy whose Pod stays", () => {
  const told = (driver: Driver) => new Promise<string>((done) => driver.startDrain(done));
  const undone = (driver: Driver) => new Promise<string>((done) => driver.cancelDrain(done));

  test("passes its health checks again, and what cannot be taken back is said", async () => {
    const envoy = await startFakeEnvoy();
    const notes: string[] = [];
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, (message) => notes.push(message));
    expect(await told(driver)).toBe("");
    expect(envoy.health).toBe("failed");
    expect(await undone(driver)).toBe("");
    expect(envoy.health).toBe("ok");
    expect(notes).toEqual(["driver cannot revert the drain completely"]);
    await envoy.stop();
  });

  test("is not told again that it drains by a later count", async () => {
    const envoy = await startFakeEnvoy();
    envoy.stats = () => listenerLines("0.0.0.0_80");
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, () => {});
    await told(driver);
    await undone(driver);
    envoy.restart();
    for (let n = 0; n < 3; n += 1) await new Promise((done) => driver.countActive(done));
    expect(envoy.calls.at(-1)).toBe("POST /healthcheck/ok");
    await envoy.stop();
  });

  test("that was never told is not told that it stays", async () => {
    const envoy = await startFakeEnvoy();
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, () => {});
    expect(await undone(driver)).toBe("");
    expect(envoy.calls).toEqual([]);
    await envoy.stop();
  });

  test.for(["unix:relative.sock", "unix:/", `unix:/${"x".repeat(107)}`, "unix:/a\nb", "http://envoy:9901"])(
    "is not looked for at %j, and the reason is told",
    async (driverUrl) => {
      const driver = createEnvoyDriver({ ...ENVOY, driverUrl }, streamHttp, () => {});
      expect(await told(driver)).toContain("is neither an http URL with an IP nor unix:/PATH of at most 107 bytes");
      expect(driver.counts()).toBe(false);
      expect(await new Promise((done) => driver.countActive(done))).toBe(-1);
    },
  );
});
