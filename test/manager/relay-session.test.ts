import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DIAL_TIMEOUT_MS,
  newSession,
  type RelaySession,
  type SessionAction,
  type SessionEvent,
  SILENCE_TIMEOUT_MS,
  stepSession,
} from "../../src/manager/relay/relay-session.ts";

type TimedAction = SessionAction & { readonly atMs: number };

/** Runs a client's session until `untilMs`. Timers expire exactly at their time. */
function play(events: readonly SessionEvent[], untilMs = 60_000) {
  let session: RelaySession = newSession(0);
  let wakeAtMs = 0;
  const actions: TimedAction[] = [];
  const handle = (event: SessionEvent) => {
    const next = stepSession(session, event);
    session = next.session;
    wakeAtMs = next.wakeAtMs;
    for (const action of next.actions) actions.push({ ...action, atMs: event.nowMs });
  };
  const tickUntil = (ms: number) => {
    for (let count = 0; wakeAtMs >= 0 && wakeAtMs <= ms; count += 1) {
      if (count > 10_000) throw new Error("the session never stops ticking");
      handle({ kind: "tick", nowMs: wakeAtMs, lateMs: 0 });
    }
  };
  for (const event of events) {
    tickUntil(event.nowMs);
    handle(event);
  }
  tickUntil(untilMs);
  const timesOf = (kind: SessionAction["kind"]) => actions.flatMap((one) => (one.kind === kind ? [one.atMs] : []));
  return { actions, session, dials: timesOf("dial"), lost: timesOf("lost"), dropped: timesOf("drop"), wakeAtMs };
}

const receivedEvent = (nowMs: number, id: number, endpointState: "in" | "out" | "unknown" = "in"): SessionEvent => ({
  kind: "received",
  nowMs,
  id,
  endpointState,
});
const closedEvent = (nowMs: number, id: number, reason = "refused"): SessionEvent => ({
  kind: "closed",
  nowMs,
  id,
  reason,
});
const delayEvent = (nowMs: number, inMs: number): SessionEvent => ({ kind: "drain-delay", nowMs, inMs });
const disconnectEvent = (nowMs: number): SessionEvent => ({ kind: "disconnect", nowMs });
/** Creates the events of a connection that receives a line every 200 ms. */
const heartbeats = (id: number, fromMs: number, untilMs: number): SessionEvent[] =>
  Array.from({ length: Math.floor((untilMs - fromMs) / 200) + 1 }, (_, at) => receivedEvent(fromMs + at * 200, id));

describe("the client's session with the relay", () => {
  test("connects immediately at its start", () => {
    expect(play([], 0).actions).toEqual([{ kind: "dial", id: 1, hasHeartbeat: false, atMs: 0 }]);
  });

  test("closes a connection that does not deliver a line within two seconds, and reports the reason", () => {
    const session = play([], DIAL_TIMEOUT_MS);
    expect(session.actions.slice(1)).toEqual([
      { kind: "drop", id: 1, atMs: 2_000 },
      { kind: "lost", reason: "the relay did not respond within 2000 ms", atMs: 2_000 },
    ]);
  });

  test("connects again with growing delays", () => {
    const dialTimesMs = [0, 100, 300, 700, 1_500, 3_100, 5_100, 7_100];
    const session = play(
      dialTimesMs.map((atMs, at) => closedEvent(atMs, at + 1)),
      10_000,
    );
    expect(session.dials.slice(0, 8)).toEqual(dialTimesMs);
    expect(session.lost).toEqual([0]);
  });

  test("reports a lost status if the relay closes every connection after one line, even if its first line was slow", () => {
    const events: SessionEvent[] = [receivedEvent(1_000, 1), closedEvent(1_001, 1)];
    let dialledAtMs = 1_101;
    for (const [id, retryMs] of [200, 400, 800, 1_600, 2_000, 2_000, 2_000].entries()) {
      events.push(receivedEvent(dialledAtMs + 50, id + 2), closedEvent(dialledAtMs + 51, id + 2));
      dialledAtMs += 51 + retryMs;
    }
    const session = play([delayEvent(0, 0), ...events], 12_000);
    expect(session.dials.length).toBeGreaterThanOrEqual(8);
    expect(session.lost[0]).toBeLessThan(3_000);
  });

  test("reports an interruption once, and the next interruption only after it has received another line", () => {
    const session = play(
      [
        closedEvent(0, 1),
        closedEvent(100, 2),
        receivedEvent(310, 3),
        closedEvent(400, 3),
        closedEvent(500, 4),
        closedEvent(700, 5),
      ],
      1_000,
    );
    expect(session.lost).toEqual([0, 900]);
  });

  test("keeps the last status for half a second during a reconnection", () => {
    expect(play([receivedEvent(10, 1), closedEvent(1_000, 1), receivedEvent(1_400, 2)], 5_000).lost).toEqual([]);
    expect(play([receivedEvent(10, 1), closedEvent(1_000, 1)], 5_000).lost).toEqual([1_500]);
  });

  test("closes a connection that missed three repetitions of the status", () => {
    const session = play([receivedEvent(10, 1)], SILENCE_TIMEOUT_MS + 10);
    expect(session.dropped).toEqual([SILENCE_TIMEOUT_MS + 10]);
    expect(play([receivedEvent(10, 1), receivedEvent(20_000, 1)], SILENCE_TIMEOUT_MS + 10).dropped).toEqual([]);
  });

  test("requests a heartbeat shortly before the end of the drain delay if the Pod is not withdrawn", () => {
    const session = play([delayEvent(0, 5_000), receivedEvent(10, 1), receivedEvent(3_510, 2)], 3_600);
    expect(session.actions.slice(1)).toEqual([
      { kind: "dial", id: 2, hasHeartbeat: true, atMs: 3_500 },
      { kind: "drop", id: 1, atMs: 3_510 },
    ]);
  });

  test.for(["out", "unknown"] as const)("does not request a heartbeat if the state is `%s`", (offered) => {
    expect(play([delayEvent(0, 5_000), receivedEvent(10, 1, offered)], 20_000).dials).toEqual([0]);
  });

  test("keeps the status while the relay's heartbeats arrive", () => {
    const session = play([delayEvent(0, 2_000), receivedEvent(10, 1), ...heartbeats(2, 700, 20_000)], 20_100);
    expect(session.lost).toEqual([]);
    expect(session.dials).toEqual([0, 500]);
  });

  test("reports a lost status at the end of the drain delay if the relay is silent", () => {
    expect(play([delayEvent(0, 5_000), receivedEvent(10, 1)], 20_000).lost).toEqual([5_000]);
  });

  test("reports a lost status half a second after the relay's last heartbeat", () => {
    const session = play([delayEvent(0, 2_000), receivedEvent(10, 1), ...heartbeats(2, 510, 9_110)], 20_000);
    expect(session.lost).toEqual([9_610]);
    expect(session.dials[2]).toBe(9_410);
  });

  test("waits longer for a heartbeat if the relay's earlier heartbeats were slow", () => {
    const slowHeartbeats = [
      receivedEvent(600, 2),
      receivedEvent(1_000, 2),
      receivedEvent(1_400, 2),
      receivedEvent(1_800, 2),
    ];
    expect(play([delayEvent(0, 2_000), receivedEvent(100, 1), ...slowHeartbeats], 20_000).lost).toEqual([2_700]);
  });

  test("keeps the status if heartbeats stop on one connection and arrive on a new connection", () => {
    const session = play(
      [delayEvent(0, 2_000), receivedEvent(10, 1), ...heartbeats(2, 700, 9_100), ...heartbeats(3, 9_500, 15_000)],
      15_100,
    );
    expect(session.lost).toEqual([]);
  });

  test("connects again, with growing delays, to a relay that does not send heartbeats, and keeps its statuses", () => {
    const events: SessionEvent[] = [delayEvent(0, 2_000), receivedEvent(10, 1)];
    // Every connection receives one line, 20 ms after the client has started to connect.
    for (let count = 0; count < 20; count += 1) {
      const dials = play(events, 60_000).dials;
      events.push(receivedEvent((dials[count + 1] ?? 0) + 20, count + 2));
    }
    const untilMs = events.at(-1)?.nowMs ?? 0;
    const session = play(events, untilMs);
    expect(session.lost).toEqual([]);
    expect(untilMs).toBeGreaterThan(25_000);
  });

  test("does not report a lost status if only its own process was suspended", () => {
    let session = newSession(0);
    for (const event of [
      { kind: "tick", nowMs: 0, lateMs: 0 } as const,
      delayEvent(0, 500),
      receivedEvent(10, 1),
      receivedEvent(100, 1),
    ])
      session = stepSession(session, event).session;
    const step = stepSession(session, { kind: "tick", nowMs: 3_000, lateMs: 2_600 });
    expect(step.actions).toEqual([{ kind: "dial", id: 2, hasHeartbeat: true }]);
  });

  test("does not open a connection or set a timer after the disconnect command", () => {
    const session = play(
      [delayEvent(0, 1_000), receivedEvent(10, 1), disconnectEvent(600), closedEvent(700, 1), receivedEvent(800, 2)],
      60_000,
    );
    expect(session.dials).toEqual([0, 310]);
    expect(session.wakeAtMs).toBe(-1);
  });

  test("has at most two connections, reports each lost status once, and always has a next timer", () => {
    const anySessionEvent = fc.record({
      gapMs: fc.integer({ min: 0, max: 3_000 }),
      what: fc.constantFrom("received", "closed", "delay", "disconnect" as const),
      connectionIndex: fc.integer({ min: 0, max: 2 }),
      offered: fc.constantFrom("in", "out", "unknown" as const),
    });
    fc.assert(
      fc.property(fc.array(anySessionEvent, { maxLength: 60 }), (sessionEvents) => {
        const checkedSession = createCheckedSession();
        for (const { gapMs, what, connectionIndex, offered } of sessionEvents) {
          const nowMs = checkedSession.wait(gapMs);
          const id = checkedSession.open()[connectionIndex] ?? 99;
          const events = {
            received: receivedEvent(nowMs, id, offered),
            closed: closedEvent(nowMs, id),
            delay: delayEvent(nowMs, gapMs),
            disconnect: disconnectEvent(nowMs),
          };
          checkedSession.handle(events[what]);
        }
      }),
    );
  });
});

/** Creates a client's session whose invariants are checked after each event. */
function createCheckedSession() {
  let session = newSession(0);
  let nowMs = 0;
  let wakeAtMs = -1;
  let openIds: readonly number[] = [];
  let isLost = false;
  const perform = (action: SessionAction) => {
    if (action.kind === "dial") openIds = [...openIds, action.id];
    else if (action.kind === "drop") openIds = openIds.filter((id) => id !== action.id);
    else {
      expect(isLost).toBe(false);
      isLost = true;
    }
  };
  const handle = (event: SessionEvent) => {
    if (event.kind === "received" && !session.isOver && openIds.includes(event.id)) isLost = false;
    if (event.kind === "closed") openIds = openIds.filter((id) => id !== event.id);
    const next = stepSession(session, event);
    session = next.session;
    wakeAtMs = next.wakeAtMs;
    next.actions.forEach(perform);
    expect(openIds.length).toBeLessThanOrEqual(session.isOver ? 0 : 2);
    expect(wakeAtMs).toBeGreaterThanOrEqual(session.isOver ? -1 : event.nowMs);
  };
  const wait = (gapMs: number): number => {
    const untilMs = nowMs + gapMs;
    for (let count = 0; wakeAtMs >= 0 && wakeAtMs <= untilMs; count += 1) {
      expect(count).toBeLessThan(1_000);
      nowMs = wakeAtMs;
      handle({ kind: "tick", nowMs, lateMs: 0 });
    }
    nowMs = untilMs;
    return nowMs;
  };
  handle({ kind: "tick", nowMs, lateMs: 0 });
  return { handle, wait, open: () => openIds };
}
