/** Tests that arbitrary sequences of external calls do not affect a Pod's drain. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { type Hold, type HookCalls, idleState } from "../../src/manager/drain/drain-state.ts";
import { addHold, holdOf } from "../../src/manager/drain/hook-calls.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PlayedDrain, play, relayReported } from "./drain-script.ts";

const CONTAINERS = ["app", "web"];
const TWO_APPS: DrainSettings = {
  ...ONE_APP,
  driver: "http",
  hooks: CONTAINERS.map((container) => ({ container, role: "app" })),
};
const TRIGGER_MS = 40_000;
const HOLD_IDS = { app: 9_001, web: 9_002, own: 9_003 };

type ExternalCall = {
  readonly atMs: number;
  readonly container: string;
  readonly host: number;
  readonly durationMs: number;
};

const anyExternalCalls: fc.Arbitrary<readonly ExternalCall[]> = fc.array(
  fc.record({
    // Half of the calls arrive at any time, the other half shortly before or after the trigger.
    atMs: fc.oneof(fc.nat(150_000), fc.integer({ min: TRIGGER_MS - 16_000, max: TRIGGER_MS + 3_000 })),
    container: fc.constantFrom(...CONTAINERS),
    host: fc.nat(60),
    durationMs: fc.oneof(fc.nat(2_000), fc.constant(1_000_000)),
  }),
  { maxLength: 250, size: "max" },
);

function eventsOf(calls: readonly ExternalCall[]): DrainEvent[] {
  return calls.flatMap((one, id): DrainEvent[] => [
    { kind: "hook-called", nowMs: one.atMs, holdId: id, container: one.container, peer: `10.9.9.${one.host}` },
    { kind: "client-disconnected", nowMs: one.atMs + one.durationMs, holdId: id },
  ]);
}

/** The kubelet starts all hooks at the same time. The call of the manager's own hook arrives `ownAfterMs` after the trigger. */
const terminationEvents = (ownAfterMs: number): DrainEvent[] => [
  hook(TRIGGER_MS, HOLD_IDS.app, "app"),
  hook(TRIGGER_MS + 5, HOLD_IDS.web, "web"),
  ownHook(TRIGGER_MS + ownAfterMs, HOLD_IDS.own),
];

const driverDrainTimes = (drain: PlayedDrain): number[] =>
  drain.actions.filter((action) => action.kind === "start-driver-drain").map((action) => action.atMs);

const drainStartTimes = (drain: PlayedDrain): number[] =>
  drain.actions.flatMap((action) =>
    action.kind === "entered" && action.enteredState.phase.name === "withdrawing" ? [action.atMs] : [],
  );

describe("preStop calls with the token from outside of the node", () => {
  const anySettings: fc.Arbitrary<DrainSettings> = fc
    .record({
      drainDelayMs: fc.nat(20_000),
      deregistrationDelayMs: fc.nat(10_000),
      completes: fc.boolean(),
      classic: fc.boolean(),
    })
    .map((some) => ({ ...TWO_APPS, ...some }));
  const anyChain = fc.subarray(CONTAINERS);

  test("do not change the start of a drain or shorten the drain, for any statuses of the relay", () => {
    const anyStatus = fc.record({ atMs: fc.nat(60_000), offered: fc.constantFrom("in", "out", "unknown") });
    fc.assert(
      fc.property(
        anySettings,
        anyExternalCalls,
        fc.array(anyStatus, { maxLength: 12 }),
        (settings, calls, statuses) => {
          const statusEvents = statuses.map(({ atMs, offered }) => relayReported(atMs, offered, false));
          const script = { settings, pod: busyUntil(TRIGGER_MS + 3_000), untilMs: 130_000 };
          const withoutCalls = play({ ...script, events: [...terminationEvents(500), ...statusEvents] });
          const withCalls = play({
            ...script,
            events: [...terminationEvents(500), ...statusEvents, ...eventsOf(calls)],
          });
          expect(drainStartTimes(withCalls)).toEqual(drainStartTimes(withoutCalls));
          for (const id of [HOLD_IDS.app, HOLD_IDS.web]) {
            expect(withCalls.answerTimesMs.get(id) ?? 0).toBeGreaterThanOrEqual(
              withoutCalls.answerTimesMs.get(id) ?? 0,
            );
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test("do not make the stop signal of a terminating container earlier, and do not change the time of the driver's drain", () => {
    fc.assert(
      fc.property(
        anySettings,
        anyExternalCalls,
        fc.nat(14_900),
        fc.nat(60_000),
        anyChain,
        (settings, calls, ownMs, busyMs, chained) => {
          const script = {
            settings,
            pod: busyUntil(TRIGGER_MS + busyMs),
            containersWithOriginalHook: chained,
            originalHookMs: 4_000,
            untilMs: 130_000,
          };
          const withoutCalls = play({ ...script, events: terminationEvents(ownMs) });
          const withCalls = play({ ...script, events: [...terminationEvents(ownMs), ...eventsOf(calls)] });
          for (const id of [HOLD_IDS.app, HOLD_IDS.web]) {
            const quietMs = withoutCalls.answerTimesMs.get(id) ?? 0;
            expect(withCalls.answerTimesMs.get(id) ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(quietMs);
          }
          expect(driverDrainTimes(withCalls)).toEqual(driverDrainTimes(withoutCalls));
          expect(drainStartTimes(withCalls)).toEqual(drainStartTimes(withoutCalls));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("do not start or end a drain, and are answered within fifteen seconds", () => {
    fc.assert(
      fc.property(anySettings, anyExternalCalls, anyChain, (settings, calls, chained) => {
        const drain = play({
          settings,
          events: eventsOf(calls),
          containersWithOriginalHook: chained,
          originalHookMs: 0,
        });
        expect(drain.summary).toMatchObject({ phase: "idle", trigger: "none", triggeredAtMs: -1, holds: [] });
        const actionKinds = new Set(drain.actions.map((action) => action.kind));
        for (const kind of [
          "start-driver-drain",
          "cancel-driver-drain",
          "count-active",
          "add-kubelet-address",
          "exit",
        ] as const) {
          expect(actionKinds.has(kind)).toBe(false);
        }
        calls.forEach((one, id) => {
          const atMs = drain.answerTimesMs.get(id);
          if (one.durationMs > 100_000)
            expect((atMs ?? Number.POSITIVE_INFINITY) - one.atMs).toBeLessThanOrEqual(15_000);
        });
        // At most two wake-ups for each call.
        expect(drain.wakeCount).toBeLessThanOrEqual(2 * calls.length);
      }),
      { numRuns: 50 },
    );
  });

  test("are logged at most once in five seconds for each container", () => {
    const calls = Array.from({ length: 600 }, (_, at) => hook(at * 100, at, CONTAINERS[at % 2]));
    const drain = play({ settings: TWO_APPS, events: calls });
    const phaseEntries = drain.actions.filter((action) => action.kind === "entered");
    expect(phaseEntries.length).toBeLessThanOrEqual(2 * (60 / 5 + 1));
  });

  test("do not make the manager ready for another drain if the Pod does not have a listener", () => {
    const closingPod = (nowMs: number) => ({ ...busyUntil(0)(nowMs), hasTcpListener: nowMs < TRIGGER_MS + 9_000 });
    const calls = eventsOf([{ atMs: 200_000, container: "app", host: 1, durationMs: 1_000_000 }]);
    const drain = play({
      settings: TWO_APPS,
      events: [...terminationEvents(100), ...calls],
      pod: closingPod,
      untilMs: 190_000,
    });
    expect(drain.summary.phase).toBe("done");
    expect(drain.answerTimesMs.get(0)).toBe(200_000);
    expect(drain.actions.map((action) => action.kind)).not.toContain("cancel-driver-drain");
  });
});

describe("the preStop calls that wait for their answers", () => {
  const NO_HOLDS: HookCalls = idleState([]).hooks;
  const addHolds = (calls: readonly { container: string; peer: string }[]): readonly Hold[] =>
    calls.reduce((hooks, one, id) => addHold(hooks, holdOf(id, id, one.container, "app", one.peer), []), NO_HOLDS)
      .holds;

  test("are at most 128 and include the first call of each container and address", () => {
    const anyCall = fc.record({
      container: fc.constantFrom("app", "web", "job", "mesh"),
      // Above 128 held calls, the container with the most calls has at least 33, from at most 31 addresses. At least one address
      // therefore has several calls. The manager answers the newest of these calls, and never the first call of an address.
      peer: fc.nat(30).map((host) => `10.9.9.${host}`),
    });
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 600, size: "max" }), (calls) => {
        const remaining = addHolds(calls);
        expect(remaining.length).toBe(Math.min(128, calls.length));
        const keys = new Set<string>();
        calls.forEach((one, id) => {
          const key = `${one.container} ${one.peer}`;
          if (!keys.has(key)) expect(remaining.some((hold) => hold.id === id)).toBe(true);
          keys.add(key);
        });
      }),
      { numRuns: 25 },
    );
  });

  test("include the kubelet's last call after 5000 calls of 127 addresses", () => {
    const otherCalls = Array.from({ length: 5_000 }, (_, at) => ({ container: "app", peer: `10.9.${at % 127}.1` }));
    expect(addHolds([...otherCalls, { container: "app", peer: "10.0.0.1" }]).at(-1)).toMatchObject({
      peer: "10.0.0.1",
    });
  });

  test("include the first call even after calls of any number of other addresses", () => {
    const otherCalls = Array.from({ length: 5_000 }, (_, at) => ({ container: "app", peer: `10.9.${at}.1` }));
    expect(addHolds([{ container: "app", peer: "10.0.0.1" }, ...otherCalls])[0]).toMatchObject({ peer: "10.0.0.1" });
  });
});
