/** Tests when a drain ends although clients keep sending requests on open connections. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import {
  type ObservedPod,
  ONE_APP,
  ownHook,
  type PodAt,
  play,
  QUIET,
  relayReported,
  type Script,
} from "./drain-script.ts";

type Cycling = ObservedPod["cycling"];
type CyclingPart = Pick<Cycling, "connectionCount" | "outstandingResponses" | "othersActivity"> & {
  readonly hasOthersTraffic: boolean;
};

/** Creates a Pod with cycling connections. @param cyclingAt returns their state `nowMs` after the trigger */
function cyclingPod(cyclingAt: (nowMs: number) => Partial<Cycling>): PodAt {
  return (nowMs) => {
    const cycling = {
      ...({
        connectionCount: 3,
        outstandingResponses: 1,
        othersActivity: "quiet",
        othersEvidenceMs: -1,
        lastArrivalMs: -1,
      } as const),
      ...cyclingAt(nowMs),
    };
    const { connectionCount } = cycling;
    const left = Array.from({ length: connectionCount }, (_, index) => clientOf(index));
    const openConnectionFields = { openConnections: connectionCount, left, leftTotal: connectionCount };
    const activity = cycling.outstandingResponses > 0 ? "busy" : cycling.othersActivity;
    return { ...QUIET, ...openConnectionFields, activity, lastEvidenceMs: nowMs, cycling };
  };
}

const clientOf = (index: number) => ({
  ...{ local: "10.0.0.5:8080", peer: `10.0.0.${index + 1}:40000` },
  ...{ ageMs: 12_000, state: "ESTABLISHED" },
});

function drain(pod: PodAt, settings: Partial<DrainSettings> = {}, more: Partial<Script> = {}) {
  const { summary, answerTimesMs } = play({
    settings: { ...ONE_APP, ...settings },
    events: [ownHook(0, 1)],
    pod,
    ...more,
  });
  return { outcome: summary.outcome, why: summary.why, endMs: answerTimesMs.get(1) ?? -1 };
}

/** The default delay of 5 s and the default patience of 10 s. */
const PATIENCE_END_MS = 15_000;

describe("a drain with only cycling connections", () => {
  test("is handed over after the patience", () => {
    const { outcome, endMs } = drain(cyclingPod(() => ({})));
    expect(outcome).toBe("handed-over");
    expect(endMs).toBeGreaterThanOrEqual(PATIENCE_END_MS);
    expect(endMs).toBeLessThan(PATIENCE_END_MS + 150);
  });

  test("reports the clients, the patience and the number of outstanding responses", () => {
    expect(drain(cyclingPod(() => ({ outstandingResponses: 2 }))).why).toBe(
      "Released 15.1s after the trigger with 3 connections still open: 10.0.0.1:40000 to port 8080 for 12s, " +
        "10.0.0.2:40000 to port 8080 for 12s, 10.0.0.3:40000 to port 8080 for 12s; 3 clients kept sending requests on open " +
        "connections, and none of them closed for 10s (lastcall.dev/patience). 2 responses were outstanding.",
    );
  });

  test("is handed over at the end of the delays if the patience is 0", () => {
    const { outcome, endMs, why } = drain(
      cyclingPod(() => ({ outstandingResponses: 3 })),
      { patienceMs: 0 },
    );
    expect({ outcome, endMs }).toEqual({ outcome: "handed-over", endMs: 5_000 });
    expect(why).toContain(
      "and the app finishes their requests at its stop signal (lastcall.dev/shutdown, lastcall.dev/patience). 3 responses were outstanding.",
    );
  });

  test("with `shutdown: graceful` waits for outstanding responses of other connections, but not for a quiet period afterwards", () => {
    const busyPod = cyclingPod((nowMs) => ({
      othersActivity: nowMs < 8_000 ? "busy" : "quiet",
      othersEvidenceMs: nowMs,
    }));
    const { outcome, endMs } = drain(busyPod, { shutdown: "graceful" });
    expect(outcome).toBe("handed-over");
    expect(endMs).toBeGreaterThanOrEqual(8_000);
    expect(endMs).toBeLessThan(8_300);
  });

  test("with `shutdown: graceful` waits for a quiet period after the last new connection", () => {
    const podWithLateArrival = cyclingPod((nowMs) => ({ lastArrivalMs: Math.min(nowMs, 9_000) }));
    const { outcome, endMs } = drain(podWithLateArrival, { shutdown: "graceful" });
    expect(outcome).toBe("handed-over");
    expect(endMs).toBeGreaterThanOrEqual(11_000);
    expect(endMs).toBeLessThan(11_300);
  });

  test("restarts the patience each time one of the connections closes", () => {
    const { outcome, endMs } = drain(cyclingPod((nowMs) => ({ connectionCount: nowMs < 12_000 ? 4 : 3 })));
    expect(outcome).toBe("handed-over");
    expect(endMs).toBeGreaterThanOrEqual(22_000);
    expect(endMs).toBeLessThan(22_300);
  });

  test("does not restart the patience when more connections are recognised as cycling", () => {
    const { endMs } = drain(cyclingPod((nowMs) => ({ connectionCount: nowMs < 12_000 ? 3 : 4 })));
    expect(endMs).toBeLessThan(PATIENCE_END_MS + 150);
  });

  test("ends as `drained` if the clients disconnect during the patience", () => {
    const pod = cyclingPod(() => ({}));
    const { outcome } = drain((nowMs) => (nowMs < 12_000 ? pod(nowMs) : { ...QUIET, lastEvidenceMs: 12_000 }));
    expect(outcome).toBe("drained");
  });

  test.for<[string, Partial<DrainSettings>]>([
    ["a patience that is longer than the drain timeout", { patienceMs: 60_001 }],
    ["the criterion `connections`", { drainedWhen: "connections" }],
    ["the criterion `deadline`", { drainedWhen: "deadline" }],
  ])("lasts until the deadline with %s", ([, settings]) => {
    expect(
      drain(
        cyclingPod(() => ({})),
        settings,
      ),
    ).toMatchObject({ outcome: "timeout", endMs: 65_000 });
  });
});

describe("a hand-over waits", () => {
  test("for a sample with as few outstanding responses as the lowest number shortly before the end of the patience", () => {
    const outstandingAt = (nowMs: number) => (nowMs % 1_000 < 200 ? 2 : 20);
    const { outcome, why, endMs } = drain(
      cyclingPod((nowMs) => ({
        outstandingResponses: nowMs < 15_000 ? outstandingAt(nowMs) : outstandingAt(nowMs - 500),
      })),
    );
    expect(outcome).toBe("handed-over");
    expect(why).toContain("2 responses were outstanding");
    expect(endMs).toBeGreaterThanOrEqual(15_500);
  });

  test("at most 3 s for a sample with fewer outstanding responses", () => {
    const { outcome, why, endMs } = drain(
      cyclingPod((nowMs) => ({ outstandingResponses: nowMs < PATIENCE_END_MS ? 1 : 2 })),
    );
    expect(outcome).toBe("handed-over");
    expect(why).toContain("2 responses were outstanding");
    expect(endMs).toBeGreaterThanOrEqual(18_000);
    expect(endMs).toBeLessThan(18_300);
  });

  test("until a slow response is sent and the quiet period is over", () => {
    const slowPod = cyclingPod((nowMs) =>
      nowMs < 30_000 ? { othersActivity: "busy", othersEvidenceMs: nowMs } : { othersEvidenceMs: 30_000 },
    );
    const { outcome, endMs } = drain(slowPod);
    expect(outcome).toBe("handed-over");
    expect(endMs).toBeGreaterThanOrEqual(32_000);
    expect(endMs).toBeLessThan(32_300);
  });

  test("while other connections have traffic, at most until the deadline", () => {
    expect(drain(cyclingPod((nowMs) => ({ othersEvidenceMs: nowMs })))).toMatchObject({
      outcome: "timeout",
      endMs: 65_000,
    });
  });
});

/** Plays a drain in which the relay's first status after the trigger reports whether the workload's last stops were graceful. */
const drainWithStops = (
  isGraceful: boolean,
  settings: Partial<DrainSettings> = {},
  outstandingAt: (nowMs: number) => number = () => 0,
) =>
  drain(
    cyclingPod((nowMs) => ({ outstandingResponses: outstandingAt(nowMs) })),
    settings,
    { events: [ownHook(0, 1), relayReported(100, "out", true, { isGraceful })] },
  );

describe("a drain of a workload whose last stopped Pods did not reset a connection", () => {
  test("is handed over at the end of the delays", () => {
    const { outcome, endMs, why } = drainWithStops(true);
    expect({ outcome, endMs }).toEqual({ outcome: "handed-over", endMs: 5_000 });
    expect(why).toContain(
      "3 clients kept sending requests on open connections, and no connection was reset when the last Pods of this workload stopped " +
        "(lastcall.dev/shutdown). 0 responses were outstanding.",
    );
  });

  test("waits at most a second for a sample without outstanding responses", () => {
    expect(drainWithStops(true, {}, (nowMs) => (nowMs < 5_400 ? 2 : 0)).endMs).toBe(5_450);
    const { outcome, endMs } = drainWithStops(true, {}, () => 2);
    expect(outcome).toBe("handed-over");
    expect(endMs).toBeGreaterThanOrEqual(6_000);
    expect(endMs).toBeLessThan(6_200);
  });

  test("waits for the patience if the relay does not report the stops of these Pods", () => {
    expect(drainWithStops(false).endMs).toBeGreaterThanOrEqual(PATIENCE_END_MS);
  });

  test("waits for the patience with `shutdown: abrupt`", () => {
    expect(drainWithStops(true, { shutdown: "abrupt" }).endMs).toBeGreaterThanOrEqual(PATIENCE_END_MS);
  });

  test("waits for the patience if a later status comes from a relay that did not record the stops of these Pods", () => {
    const events = [
      ...[ownHook(0, 1), relayReported(100, "in", true, { isGraceful: true })],
      relayReported(3_000, "out", true),
    ];
    const { endMs } = drain(
      cyclingPod(() => ({ outstandingResponses: 0 })),
      {},
      { events },
    );
    expect(endMs).toBeGreaterThanOrEqual(PATIENCE_END_MS);
  });

  test("does not wait for the patience if the connection to the relay is lost after the status", () => {
    const events = [
      ...[ownHook(0, 1), relayReported(100, "out", true, { isGraceful: true })],
      relayReported(3_000, "unknown", false, { reason: "the relay closed the connection", isFromRelay: false }),
    ];
    const { endMs } = drain(
      cyclingPod(() => ({ outstandingResponses: 0 })),
      {},
      { events },
    );
    expect(endMs).toBe(5_000);
  });
});

test("a drain is never handed over before the end of the delays and the patience, or with other traffic in the quiet period", () => {
  const anyCyclingPart: fc.Arbitrary<CyclingPart> = fc.record({
    connectionCount: fc.integer({ min: 1, max: 5 }),
    outstandingResponses: fc.integer({ min: 0, max: 5 }),
    othersActivity: fc.constantFrom("quiet", "busy", "ambiguous", "unknown", "untracked"),
    hasOthersTraffic: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(anyCyclingPart, { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 1, max: 20_000 }),
      (parts, patienceMs) => {
        const partAt = (nowMs: number) => parts[Math.floor(nowMs / 1_000) % parts.length];
        let othersEvidenceMs = -1;
        let lastFallMs = 5_000;
        let lastConnections = 0;
        const pod = cyclingPod((nowMs) => {
          const { hasOthersTraffic = false, ...part }: Partial<CyclingPart> = partAt(nowMs) ?? {};
          if (hasOthersTraffic) othersEvidenceMs = nowMs;
          const connectionCount = part.connectionCount ?? 3;
          if (nowMs >= 5_000 && connectionCount < lastConnections) lastFallMs = nowMs;
          if (nowMs >= 5_000) lastConnections = connectionCount;
          return { ...part, othersEvidenceMs };
        });
        const { outcome, endMs } = drain(pod, { patienceMs });
        if (outcome !== "handed-over") return;
        expect(partAt(endMs)?.othersActivity).toBe("quiet");
        expect(endMs).toBeGreaterThanOrEqual(othersEvidenceMs + 2_000);
        expect(endMs).toBeGreaterThanOrEqual(lastFallMs + patienceMs);
      },
    ),
    { numRuns: 300 },
  );
});
