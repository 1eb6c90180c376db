import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  beginSession,
  DIAL_LIMIT_MS,
  type RelaySession,
  type SessionAction,
  type SessionEvent,
  SILENCE_LIMIT_MS,
  stepSession,
} from "../../src/manager/relay/relay-session.ts";

type Timed = SessionAction & { readonly atMs: number };

/** Plays a client whose timers are exact, until `untilMs`. */
function play(events: readonly SessionEvent[], untilMs = 60_000) {
  let session: RelaySession = beginSession(0);
  let wakeAtMs = 0;
  const actions: Timed[] = [];
  const hear = (event: SessionEvent) => {
    const next = stepSession(session, event);
    session = next.session;
    wakeAtMs = next.wakeAtMs;
    for (const action of next.actions) actions.push({ ...action, atMs: event.nowMs });
  };
  const tickUntil = (ms: number) => {
    for (let count = 0; wakeAtMs >= 0 && wakeAtMs <= ms; count += 1) {
      if (count > 10_000) throw new Error("it never rests");
      hear({ kind: "tick", nowMs: wakeAtMs, lateMs: 0 });
    }
  };
  for (const event of events) {
    tickUntil(event.nowMs);
    hear(event);
  }
  tickUntil(untilMs);
  const times = (kind: SessionAction["kind"]) => actions.flatMap((one) => (one.kind === kind ? [one.atMs] : []));
  return { actions, session, dials: times("dial"), lost: times("lost"), dropped: times("drop"), wakeAtMs };
}

const spoke = (nowMs: number, id: number, offered: "in" | "out" | "unknown" = "in"): SessionEvent => ({
  kind: "spoke",
  nowMs,
  id,
  offered,
});
const broke = (nowMs: number, id: number, reason = "refused"): SessionEvent => ({ kind: "broke", nowMs, id, reason });
const floor = (nowMs: number, inMs: number): SessionEvent => ({ kind: "floor", nowMs, inMs });
const rest = (nowMs: number): SessionEvent => ({ kind: "rest", nowMs });
/** A connection that speaks every 200 ms. */
const heartbeats = (id: number, fromMs: number, untilMs: number): SessionEvent[] =>
  Array.from({ length: Math.floor((untilMs - fromMs) / 200) + 1 }, (_, at) => spoke(fromMs + at * 200, id));

describe("asking the relay", () => {
  test("connects at once", () => {
    expect(play([], 0).actions).toEqual([{ kind: "dial", id: 1, heartbeat: false, atMs: 0 }]);
  });

  test("gives up a connection that says nothing for two seconds, and says why", () => {
    const played = play([], DIAL_LIMIT_MS);
    expect(played.actions.slice(1)).toEqual([
      { kind: "drop", id: 1, atMs: 2_000 },
      { kind: "lost", reason: "no answer within 2000 ms", atMs: 2_000 },
    ]);
  });

  test("tries again soon, and less often the longer it fails", () => {
    const failing = [0, 100, 300, 700, 1_500, 3_100, 5_100, 7_100];
    const played = play(
      failing.map((atMs, at) => broke(atMs, at + 1)),
      10_000,
    );
    expect(played.dials.slice(0, 8)).toEqual(failing);
    expect(played.lost).toEqual([0]);
  });

  test("does not go on believing who hangs up after every answer, even if it was slow once", () => {
    const events: SessionEvent[] = [spoke(1_000, 1), broke(1_001, 1)];
    let dialledAtMs = 1_101;
    for (const [id, retryMs] of [200, 400, 800, 1_600, 2_000, 2_000, 2_000].entries()) {
      events.push(spoke(dialledAtMs + 50, id + 2), broke(dialledAtMs + 51, id + 2));
      dialledAtMs += 51 + retryMs;
    }
    const played = play([floor(0, 0), ...events], 12_000);
    expect(played.dials.length).toBeGreaterThanOrEqual(8);
    expect(played.lost[0]).toBeLessThan(3_000);
  });

  test("tells a loss once, and again only after someone spoke", () => {
    const played = play(
      [broke(0, 1), broke(100, 2), spoke(310, 3), broke(400, 3), broke(500, 4), broke(700, 5)],
      1_000,
    );
    expect(played.lost).toEqual([0, 900]);
  });

  test("keeps the last word while it connects again, for half a second", () => {
    expect(play([spoke(10, 1), broke(1_000, 1), spoke(1_400, 2)], 5_000).lost).toEqual([]);
    expect(play([spoke(10, 1), broke(1_000, 1)], 5_000).lost).toEqual([1_500]);
  });

  test("drops a connection that missed three heartbeats", () => {
    const played = play([spoke(10, 1)], SILENCE_LIMIT_MS + 10);
    expect(played.dropped).toEqual([SILENCE_LIMIT_MS + 10]);
    expect(play([spoke(10, 1), spoke(20_000, 1)], SILENCE_LIMIT_MS + 10).dropped).toEqual([]);
  });

  test("asks for a heartbeat when the delay is nearly over and the Pod is still offered", () => {
    const played = play([floor(0, 5_000), spoke(10, 1), spoke(3_510, 2)], 3_600);
    expect(played.actions.slice(1)).toEqual([
      { kind: "dial", id: 2, heartbeat: true, atMs: 3_500 },
      { kind: "drop", id: 1, atMs: 3_510 },
    ]);
  });

  test.for(["out", "unknown"] as const)("asks for no heartbeat where the relay says %s", (offered) => {
    expect(play([floor(0, 5_000), spoke(10, 1, offered)], 20_000).dials).toEqual([0]);
  });

  test("relies on a heartbeat for as long as it beats", () => {
    const played = play([floor(0, 2_000), spoke(10, 1), ...heartbeats(2, 700, 20_000)], 20_100);
    expect(played.lost).toEqual([]);
    expect(played.dials).toEqual([0, 500]);
  });

  test("no longer counts on a relay that fell silent before the delay was over once it is over", () => {
    expect(play([floor(0, 5_000), spoke(10, 1)], 20_000).lost).toEqual([5_000]);
  });

  test("no longer counts on a heartbeat half a second after its last beat", () => {
    const played = play([floor(0, 2_000), spoke(10, 1), ...heartbeats(2, 510, 9_110)], 20_000);
    expect(played.lost).toEqual([9_610]);
    expect(played.dials[2]).toBe(9_410);
  });

  test("gives a relay more time that took more time before", () => {
    const slow = [spoke(600, 2), spoke(1_000, 2), spoke(1_400, 2), spoke(1_800, 2)];
    expect(play([floor(0, 2_000), spoke(100, 1), ...slow], 20_000).lost).toEqual([2_700]);
  });

  test("goes on relying on a relay that another connection reaches", () => {
    const played = play(
      [floor(0, 2_000), spoke(10, 1), ...heartbeats(2, 700, 9_100), ...heartbeats(3, 9_500, 15_000)],
      15_100,
    );
    expect(played.lost).toEqual([]);
  });

  test("asks a relay without a heartbeat again, ever less often, and relies on its answers", () => {
    const events: SessionEvent[] = [floor(0, 2_000), spoke(10, 1)];
    // Every connection answers once, 20 ms after it was opened.
    for (let count = 0; count < 20; count += 1) {
      const dials = play(events, 60_000).dials;
      events.push(spoke((dials[count + 1] ?? 0) + 20, count + 2));
    }
    const until = events.at(-1)?.nowMs ?? 0;
    const played = play(events, until);
    expect(played.lost).toEqual([]);
    expect(until).toBeGreaterThan(25_000);
  });

  test("does not hold a standstill of its own against the relay", () => {
    let session = beginSession(0);
    for (const event of [{ kind: "tick", nowMs: 0, lateMs: 0 } as const, floor(0, 500), spoke(10, 1), spoke(100, 1)])
      session = stepSession(session, event).session;
    const late = stepSession(session, { kind: "tick", nowMs: 3_000, lateMs: 2_600 });
    expect(late.actions).toEqual([{ kind: "dial", id: 2, heartbeat: true }]);
  });

  test("does nothing more once it rests", () => {
    const played = play([floor(0, 1_000), spoke(10, 1), rest(600), broke(700, 1), spoke(800, 2)], 60_000);
    expect(played.dials).toEqual([0, 310]);
    expect(played.wakeAtMs).toBe(-1);
  });

  test("has at most two connections, says lost at most once per word, and always knows when to wake", () => {
    const move = fc.record({
      gapMs: fc.integer({ min: 0, max: 3_000 }),
      what: fc.constantFrom("spoke", "broke", "floor", "rest" as const),
      which: fc.integer({ min: 0, max: 2 }),
      offered: fc.constantFrom("in", "out", "unknown" as const),
    });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const watched = watchedClient();
        for (const { gapMs, what, which, offered } of moves) {
          const nowMs = watched.wait(gapMs);
          const id = watched.open()[which] ?? 99;
          const events = {
            spoke: spoke(nowMs, id, offered),
            broke: broke(nowMs, id),
            floor: floor(nowMs, gapMs),
            rest: rest(nowMs),
          };
          watched.hear(events[what]);
        }
      }),
    );
  });
});

/** A client under watch: what must hold after any event is demanded after each. */
function watchedClient() {
  let session = beginSession(0);
  let nowMs = 0;
  let wakeAtMs = -1;
  let open: readonly number[] = [];
  let told = false;
  const perform = (action: SessionAction) => {
    if (action.kind === "dial") open = [...open, action.id];
    else if (action.kind === "drop") open = open.filter((id) => id !== action.id);
    else {
      expect(told).toBe(false);
      told = true;
    }
  };
  const hear = (heard: SessionEvent) => {
    if (heard.kind === "spoke" && !session.over && open.includes(heard.id)) told = false;
    if (heard.kind === "broke") open = open.filter((id) => id !== heard.id);
    const next = stepSession(session, heard);
    session = next.session;
    wakeAtMs = next.wakeAtMs;
    next.actions.forEach(perform);
    expect(open.length).toBeLessThanOrEqual(session.over ? 0 : 2);
    expect(wakeAtMs).toBeGreaterThanOrEqual(session.over ? -1 : heard.nowMs);
  };
  const wait = (gapMs: number): number => {
    const untilMs = nowMs + gapMs;
    for (let count = 0; wakeAtMs >= 0 && wakeAtMs <= untilMs; count += 1) {
      expect(count).toBeLessThan(1_000);
      nowMs = wakeAtMs;
      hear({ kind: "tick", nowMs, lateMs: 0 });
    }
    nowMs = untilMs;
    return nowMs;
  };
  hear({ kind: "tick", nowMs, lateMs: 0 });
  return { hear, wait, open: () => open };
}
