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

type Timed = SessionAction & { readonly atMs: number };

/** Runs a client's session with exact timers until `untilMs`. */
function play(events: readonly SessionEvent[], untilMs = 60_000) {
  let session: RelaySession = newSession(0);
  let wakeAtMs = 0;
  const actions: Timed[] = [];
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
  const times = (kind: SessionAction["kind"]) => actions.flatMap((one) => (one.kind === kind ? [one.atMs] : []));
  return { actions, session, dials: times("dial"), lost: times("lost"), dropped: times("drop"), wakeAtMs };
}

const received = (nowMs: number, id: number, offered: "in" | "out" | "unknown" = "in"): SessionEvent => ({
  kind: "received",
  nowMs,
  id,
  endpointState: offered,
});
const closed = (nowMs: number, id: number, reason = "refused"): SessionEvent => ({ kind: "closed", nowMs, id, reason });
const delay = (nowMs: number, inMs: number): SessionEvent => ({ kind: "drain-delay", nowMs, inMs });
const disconnect = (nowMs: number): SessionEvent => ({ kind: "disconnect", nowMs });
/** Lines of one connection, every 200 ms. */
const heartbeats = (id: number, fromMs: number, untilMs: number): SessionEvent[] =>
  Array.from({ length: Math.floor((untilMs - fromMs) / 200) + 1 }, (_, at) => received(fromMs + at * 200, id));

describe("the client's session with the relay", () => {
  test("connects immediately at its start", () => {
    expect(play([], 0).actions).toEqual([{ kind: "dial", id: 1, heartbeat: false, atMs: 0 }]);
  });

  test("closes a connection that delivers no line within two seconds, and reports the reason", () => {
    const played = play([], DIAL_TIMEOUT_MS);
    expect(played.actions.slice(1)).toEqual([
      { kind: "drop", id: 1, atMs: 2_000 },
      { kind: "lost", reason: "no answer within 2000 ms", atMs: 2_000 },
    ]);
  });

  test("connects again with growing delays", () => {
    const failing = [0, 100, 300, 700, 1_500, 3_100, 5_100, 7_100];
    const played = play(
      failing.map((atMs, at) => closed(atMs, at + 1)),
      10_000,
    );
    expect(played.dials.slice(0, 8)).toEqual(failing);
    expect(played.lost).toEqual([0]);
  });

  test("reports a lost status if the relay closes every connection after one line, even if its first line was slow", () => {
    const events: SessionEvent[] = [received(1_000, 1), closed(1_001, 1)];
    let dialledAtMs = 1_101;
    for (const [id, retryMs] of [200, 400, 800, 1_600, 2_000, 2_000, 2_000].entries()) {
      events.push(received(dialledAtMs + 50, id + 2), closed(dialledAtMs + 51, id + 2));
      dialledAtMs += 51 + retryMs;
    }
    const played = play([delay(0, 0), ...events], 12_000);
    expect(played.dials.length).toBeGreaterThanOrEqual(8);
    expect(played.lost[0]).toBeLessThan(3_000);
  });

  test("reports an interruption once, and the next interruption only after it has received another line", () => {
    const played = play(
      [closed(0, 1), closed(100, 2), received(310, 3), closed(400, 3), closed(500, 4), closed(700, 5)],
      1_000,
    );
    expect(played.lost).toEqual([0, 900]);
  });

  test("keeps the last status for half a second during a reconnection", () => {
    expect(play([received(10, 1), closed(1_000, 1), received(1_400, 2)], 5_000).lost).toEqual([]);
    expect(play([received(10, 1), closed(1_000, 1)], 5_000).lost).toEqual([1_500]);
  });

  test("closes a connection that missed three repetitions of the status", () => {
    const played = play([received(10, 1)], SILENCE_TIMEOUT_MS + 10);
    expect(played.dropped).toEqual([SILENCE_TIMEOUT_MS + 10]);
    expect(play([received(10, 1), received(20_000, 1)], SILENCE_TIMEOUT_MS + 10).dropped).toEqual([]);
  });

  test("requests a heartbeat shortly before the end of the drain delay if the Pod is not withdrawn", () => {
    const played = play([delay(0, 5_000), received(10, 1), received(3_510, 2)], 3_600);
    expect(played.actions.slice(1)).toEqual([
      { kind: "dial", id: 2, heartbeat: true, atMs: 3_500 },
      { kind: "drop", id: 1, atMs: 3_510 },
    ]);
  });

  test.for(["out", "unknown"] as const)("does not request a heartbeat if the state is `%s`", (offered) => {
    expect(play([delay(0, 5_000), received(10, 1, offered)], 20_000).dials).toEqual([0]);
  });

  test("keeps the status while the relay's heartbeats arrive", () => {
    const played = play([delay(0, 2_000), received(10, 1), ...heartbeats(2, 700, 20_000)], 20_100);
    expect(played.lost).toEqual([]);
    expect(played.dials).toEqual([0, 500]);
  });

  test("reports a lost status at the end of the drain delay if the relay is silent", () => {
    expect(play([delay(0, 5_000), received(10, 1)], 20_000).lost).toEqual([5_000]);
  });

  test("reports a lost status half a second after the relay's last heartbeat", () => {
    const played = play([delay(0, 2_000), received(10, 1), ...heartbeats(2, 510, 9_110)], 20_000);
    expect(played.lost).toEqual([9_610]);
    expect(played.dials[2]).toBe(9_410);
  });

  test("waits longer for a heartbeat if the relay's earlier heartbeats were slow", () => {
    const slow = [received(600, 2), received(1_000, 2), received(1_400, 2), received(1_800, 2)];
    expect(play([delay(0, 2_000), received(100, 1), ...slow], 20_000).lost).toEqual([2_700]);
  });

  test("keeps the status if heartbeats stop on one connection and arrive on a new one", () => {
    const played = play(
      [delay(0, 2_000), received(10, 1), ...heartbeats(2, 700, 9_100), ...heartbeats(3, 9_500, 15_000)],
      15_100,
    );
    expect(played.lost).toEqual([]);
  });

  test("connects again, with growing delays, to a relay that sends no heartbeats, and keeps its statuses", () => {
    const events: SessionEvent[] = [delay(0, 2_000), received(10, 1)];
    // Every connection receives one line, 20 ms after the client has started to connect.
    for (let count = 0; count < 20; count += 1) {
      const dials = play(events, 60_000).dials;
      events.push(received((dials[count + 1] ?? 0) + 20, count + 2));
    }
    const until = events.at(-1)?.nowMs ?? 0;
    const played = play(events, until);
    expect(played.lost).toEqual([]);
    expect(until).toBeGreaterThan(25_000);
  });

  test("does not report a lost status if only its own process was suspended", () => {
    let session = newSession(0);
    for (const event of [
      { kind: "tick", nowMs: 0, lateMs: 0 } as const,
      delay(0, 500),
      received(10, 1),
      received(100, 1),
    ])
      session = stepSession(session, event).session;
    const late = stepSession(session, { kind: "tick", nowMs: 3_000, lateMs: 2_600 });
    expect(late.actions).toEqual([{ kind: "dial", id: 2, heartbeat: true }]);
  });

  test("opens no connection and sets no timer after the disconnect command", () => {
    const played = play([delay(0, 1_000), received(10, 1), disconnect(600), closed(700, 1), received(800, 2)], 60_000);
    expect(played.dials).toEqual([0, 310]);
    expect(played.wakeAtMs).toBe(-1);
  });

  test("has at most two connections, reports each lost status once, and always has a next timer", () => {
    const sessionEvent = fc.record({
      gapMs: fc.integer({ min: 0, max: 3_000 }),
      what: fc.constantFrom("received", "closed", "delay", "disconnect" as const),
      connectionIndex: fc.integer({ min: 0, max: 2 }),
      offered: fc.constantFrom("in", "out", "unknown" as const),
    });
    fc.assert(
      fc.property(fc.array(sessionEvent, { maxLength: 60 }), (sessionEvents) => {
        const watched = createCheckedSession();
        for (const { gapMs, what, connectionIndex, offered } of sessionEvents) {
          const nowMs = watched.wait(gapMs);
          const id = watched.open()[connectionIndex] ?? 99;
          const events = {
            received: received(nowMs, id, offered),
            closed: closed(nowMs, id),
            delay: delay(nowMs, gapMs),
            disconnect: disconnect(nowMs),
          };
          watched.handle(events[what]);
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
  let open: readonly number[] = [];
  let isLost = false;
  const perform = (action: SessionAction) => {
    if (action.kind === "dial") open = [...open, action.id];
    else if (action.kind === "drop") open = open.filter((id) => id !== action.id);
    else {
      expect(isLost).toBe(false);
      isLost = true;
    }
  };
  const handle = (event: SessionEvent) => {
    if (event.kind === "received" && !session.isOver && open.includes(event.id)) isLost = false;
    if (event.kind === "closed") open = open.filter((id) => id !== event.id);
    const next = stepSession(session, event);
    session = next.session;
    wakeAtMs = next.wakeAtMs;
    next.actions.forEach(perform);
    expect(open.length).toBeLessThanOrEqual(session.isOver ? 0 : 2);
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
  return { handle, wait, open: () => open };
}
