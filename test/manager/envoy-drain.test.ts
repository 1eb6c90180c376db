/** What the drain makes of a driver that tells what came and went between its counts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy-driver.ts";
import { streamHttp } from "../../src/manager/drivers/http-stream.ts";
import { rulesWith } from "../../src/manager/drivers/manager-driver.ts";
import type { Driver } from "../../src/manager/ports.ts";
import { hook, ONE_APP, ownHook, type PodAt, play, QUIET } from "./drain-script.ts";
import { listenerLines, startFakeEnvoy } from "./fake-envoy.ts";

const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy" };
const END = [hook(100, 1), ownHook(110, 2)];
const FLOOR_MS = 110 + 5_000;
const IDLE_CLIENT: PodAt = () => ({ ...QUIET, openConnections: 1, leftTotal: 1 });

const counts = (actions: readonly { kind: string; atMs: number }[]) =>
  actions.filter((action) => action.kind === "count-active").map((action) => action.atMs);

describe("a drain with Envoy", () => {
  test("is over with the delays where nobody was active for a quiet period and nobody is connected", () => {
    const played = play({ settings: ENVOY, events: END, active: () => 0 });
    expect(played.state.outcome).toBe("drained");
    expect(played.answered.get(1)).toBeGreaterThanOrEqual(FLOOR_MS);
    expect(played.answered.get(1)).toBeLessThanOrEqual(FLOOR_MS + 10);
  });

  test("gives whoever is connected the quiet period to leave", () => {
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
    const told = played.actions.filter((action) => action.kind === "tell-driver");
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
    expect(played.actions.filter((action) => action.kind === "tell-staying")).toHaveLength(1);
  });

  test("takes nothing back that was never said", () => {
    const events = [hook(100, 1)];
    const played = play({ settings: ENVOY, events, active: () => 0, untilMs: 80_000 });
    expect(played.actions.map((action) => action.kind)).not.toContain("tell-staying");
  });
});

describe("the rules of the moment", () => {
  const blind = (sees: boolean): Driver => ({
    name: "envoy",
    counts: () => sees,
    tellDraining: (done) => done(""),
    tellStaying: (done) => done(""),
    countActive: (done) => done(-1, false),
    dials: () => 0,
  });

  test("leave auto to the sockets where the driver sees nothing, and obey what was asked for", () => {
    expect(rulesWith(blind(true), ENVOY).drainedWhen).toBe("auto");
    expect(rulesWith(blind(false), ENVOY).drainedWhen).toBe("quiet");
    const asked: DrainSettings = { ...ENVOY, drainedWhen: "requests" };
    expect(rulesWith(blind(false), asked).drainedWhen).toBe("requests");
  });
});

describe("an Envoy whose Pod stays", () => {
  const told = (driver: Driver) => new Promise<string>((done) => driver.tellDraining(done));
  const undone = (driver: Driver) => new Promise<string>((done) => driver.tellStaying(done));

  test("passes its health checks again, and what cannot be taken back is said", async () => {
    const envoy = await startFakeEnvoy();
    const notes: string[] = [];
    const driver = createEnvoyDriver({ ...ENVOY, driverUrl: envoy.url }, streamHttp, (message) => notes.push(message));
    expect(await told(driver)).toBe("");
    expect(envoy.health).toBe("failed");
    expect(await undone(driver)).toBe("");
    expect(envoy.health).toBe("ok");
    expect(notes).toEqual(["driver cannot take everything back"]);
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
