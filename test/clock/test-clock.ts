/**
 * A virtual clock for real programs: their timers, their clock and the ages that they read from the kernel follow it.
 * It moves to the next timer of any program, or of the test, once all are idle: a scenario of a minute takes
 * as long as its programs compute, and no program can be late.
 *
 * Programs connect by an abstract Unix socket (`on-node.mjs`, `native-clock.c`) and exchange lines: `hello PID` is
 * answered with the time and `begin`, and followed by `ready` once the program has started; `at MS` moves the clock, once the
 * program has dated the socket events since the last step, and is answered with `set`; `run` runs the timers that are
 * due, once every program has the time; `sync` is answered with `idle EVENTS DUE` once nothing is ready. `spawn`
 * announces a child that follows the clock too, `unborn` that it failed to start.
 */
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { pause } from "../time/pause.ts";
import { type Followers, listenForFollowers, NEVER_MS } from "./followers.ts";
import { undelivered } from "./kernel-backlog.ts";

export type TestClock = {
  /** The environment of programs that follow the clock. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds since the creation of the clock. */
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Waits until the condition holds, checked every {@link CHECK_MS}. */
  readonly until: (what: () => boolean | Promise<boolean>) => Promise<void>;
  readonly after: (ms: number, what: () => void) => void;
  readonly every: (ms: number, what: () => void) => void;
  /** Registers a started program; the clock stands until it has connected, and while it exits. */
  readonly follow: Followers["follow"];
  /** Moves the clock until the promise has settled. @throws if nothing is left that could settle it */
  readonly runUntil: <T>(what: Promise<T>) => Promise<T>;
  readonly end: () => Promise<void>;
};

/** Not 0, so that programs can compute times before their start. */
const START_MS = 1_000_000;
/** Consecutive turns without an event, after which all programs are idle. A call takes one turn per hop. */
const QUIET_TURNS = 3;
/** Turns of the test's own event loop, with its apps and clients, in each turn. */
const OWN_TURNS = 8;
/** Quiet turns without a timer, with a pause after each, after which the run fails. */
const FORLORN_TURNS = 500;
const FORLORN_PAUSE_MS = 20;
/** Longer than any scenario. A repeated timer would otherwise move the clock for ever. */
const LONGEST_SCENARIO_MS = 3_600_000;

const CHECK_MS = 20;

// Without TCP_NODELAY the kernel delays a small write until the last one is acknowledged, up to 40 ms of real time.
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

  /** @returns whether the turn had no event, and nothing is in flight */
  const quietTurn = async (): Promise<boolean> => {
    const before = followers.changes();
    await followers.request("sync\n");
    for (let own = 0; own < OWN_TURNS; own += 1) await new Promise((resolve) => setImmediate(resolve));
    return followers.changes() === before && followers.awaited() === 0 && undelivered() === 0;
  };

  /** Waits until all programs are idle. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < QUIET_TURNS; ) quiet = (await quietTurn()) ? quiet + 1 : 0;
  };

  const nextMs = (): number => {
    const dues = [...followers.all().map((follower) => follower.dueMs()), ...timers.map(({ dueMs }) => dueMs)];
    const planned = dues.filter((dueMs) => dueMs !== NEVER_MS);
    return planned.length === 0 ? NEVER_MS : Math.min(...planned);
  };

  /** Runs the programs' timers, then their effects, then the test's timers. */
  const move = async (toMs: number): Promise<void> => {
    nowMs = Math.max(toMs, nowMs);
    await followers.request(time());
    followers.send("run\n");
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
    if (forlornTurns > FORLORN_TURNS || nowMs - START_MS > LONGEST_SCENARIO_MS)
      throw new Error(
        `at ${nowMs - START_MS} ms nothing is left to wait for; ${followers.all().length} programs follow`,
      );
    if (dueMs === NEVER_MS) await pause(FORLORN_PAUSE_MS, "work outside of the event loop takes time");
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
      while (!(await what())) await wait(CHECK_MS);
    },
    follow: followers.follow,
    runUntil: async (what) => {
      let settled = false;
      const watched = what.finally(() => {
        settled = true;
      });
      // It is awaited below; an earlier rejection must not count as unhandled.
      watched.catch(() => {});
      while (!settled) await advance();
      return watched;
    },
    end: followers.end,
  };
}
