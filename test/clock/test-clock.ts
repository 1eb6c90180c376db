/**
 * A clock that the test moves, for real programs: their timers, their clock and the ages they read from the kernel follow it.
 * It moves to the next timer of any of them, or of the test, once all have done what they could: a story of a minute takes
 * as long as its programs compute, and none of them can be late.
 *
 * The programs ask for it by an abstract Unix socket (`on-node.mjs`, `native-clock.c`), line by line: `hello PID` is
 * answered by the time and `begin`, and followed by `ready` once the program has started; `at MS` moves the clock, once the
 * program has dated what its sockets did since the last step, and is answered by `set`; `run` lets the timers run that are
 * due, once every program has the time; `sync` is answered, when nothing is ready any more, by `idle EVENTS DUE`. `spawn`
 * announces a program that follows the clock too, `unborn` takes that back.
 */
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { pause } from "../time/pause.ts";
import { type Followers, listenForFollowers, NEVER_MS } from "./followers.ts";
import { undelivered } from "./kernel-backlog.ts";

export type TestClock = {
  /** What a program needs to follow it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds since the clock was made. */
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Until this is so, looked at every {@link LOOK_MS}. */
  readonly until: (what: () => boolean | Promise<boolean>) => Promise<void>;
  readonly after: (ms: number, what: () => void) => void;
  readonly every: (ms: number, what: () => void) => void;
  /** A program was started that follows the clock, which stands until it has asked for the time, and while it dies. */
  readonly follow: Followers["follow"];
  /** Moves the clock until this has settled. @throws when nothing is left that could bring it */
  readonly runUntil: <T>(what: Promise<T>) => Promise<T>;
  readonly end: () => Promise<void>;
};

/** The first step has a time before which nothing was. */
const START_MS = 1_000_000;
/** Turns in a row in which no program had an event. A call and its answer take a turn for each of their hops. */
const QUIET_TURNS = 3;
/** Of the test's own event loop in each turn: its apps and its clients are there. */
const OWN_TURNS = 8;
/** Quiet turns without any timer, a pause after each, after which nothing will come. */
const FORLORN_TURNS = 500;
const FORLORN_PAUSE_MS = 20;
/** Longer than any story. What repeats for ever would otherwise move the clock for ever. */
const LONGEST_STORY_MS = 3_600_000;

const LOOK_MS = 20;

/** The kernel would keep a small write back until it has heard of the last one, for up to 40 ms of its own time. */
for (const channel of ["net.client.socket", "net.server.socket"])
  subscribe(channel, (message) => (message as { readonly socket: Socket }).socket.setNoDelay());

let made = 0;

export async function createTestClock(): Promise<TestClock> {
  made += 1;
  const name = `lastcall-clock-${process.pid}-${made}`;
  let nowMs = START_MS;
  let timers: readonly { readonly dueMs: number; readonly what: () => void }[] = [];

  const time = () => `at ${nowMs}\n`;
  const followers = await listenForFollowers(name, time);

  /** @returns whether nothing happened in it, and nothing is on its way */
  const quietTurn = async (): Promise<boolean> => {
    const before = followers.changes();
    await followers.ask("sync\n");
    for (let own = 0; own < OWN_TURNS; own += 1) await new Promise((resolve) => setImmediate(resolve));
    return followers.changes() === before && followers.awaited() === 0 && undelivered() === 0;
  };

  /** Until nothing happens any more. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < QUIET_TURNS; ) quiet = (await quietTurn()) ? quiet + 1 : 0;
  };

  const nextMs = (): number => {
    const dues = [...followers.all().map((follower) => follower.dueMs()), ...timers.map(({ dueMs }) => dueMs)];
    const planned = dues.filter((dueMs) => dueMs !== NEVER_MS);
    return planned.length === 0 ? NEVER_MS : Math.min(...planned);
  };

  /** The programs' timers come first, then what they bring about, then the test's. */
  const move = async (toMs: number): Promise<void> => {
    nowMs = Math.max(toMs, nowMs);
    await followers.ask(time());
    followers.tell("run\n");
    await settle();
    const due = timers.filter(({ dueMs }) => dueMs <= nowMs).toSorted((one, other) => one.dueMs - other.dueMs);
    timers = timers.filter(({ dueMs }) => dueMs > nowMs);
    for (const { what } of due) what();
  };

  let forlornTurns = 0;
  const advance = async (): Promise<void> => {
    await settle();
    const dueMs = nextMs();
    forlornTurns = dueMs === NEVER_MS ? forlornTurns + 1 : 0;
    if (forlornTurns > FORLORN_TURNS || nowMs - START_MS > LONGEST_STORY_MS)
      throw new Error(
        `at ${nowMs - START_MS} ms nothing is left to wait for; ${followers.all().length} programs follow`,
      );
    if (dueMs === NEVER_MS)
      await pause(FORLORN_PAUSE_MS, "what the test computes beside its event loop takes its time");
    else await move(dueMs);
  };

  const after: TestClock["after"] = (ms, what) => {
    timers = [...timers, { dueMs: nowMs + Math.ceil(ms), what }];
  };
  const every: TestClock["every"] = (ms, what) =>
    after(ms, () => {
      every(ms, what);
      what();
    });
  const wait: TestClock["wait"] = (ms) => new Promise((resolve) => after(ms, resolve));
  return {
    environment: { LASTCALL_TEST_CLOCK: name },
    nowMs: () => nowMs - START_MS,
    after,
    every,
    wait,
    until: async (what) => {
      while (!(await what())) await wait(LOOK_MS);
    },
    follow: followers.follow,
    runUntil: async (what) => {
      let settled = false;
      const watched = what.finally(() => {
        settled = true;
      });
      // It is awaited below; a failure before that is not one that nothing handles.
      watched.catch(() => {});
      while (!settled) await advance();
      return watched;
    },
    end: followers.end,
  };
}
