/**
 * A clock that the test moves, for real programs: their timers, their clock and the ages they read from the kernel follow it.
 * It moves to the next timer of any of them, or of the test, once all have done what they could: a story of a minute takes
 * as long as its programs compute, and none of them can be late.
 *
 * The programs ask for it by an abstract Unix socket (`on-node.mjs`, `native-clock.c`), line by line: `hello PID` is
 * answered by every step so far and `begin`, and followed by `ready` once the program has started; `at VIRTUAL REAL` moves
 * the clock and is answered by `set`; `run` lets the timers run that are due, once every program has the time; `sync` is
 * answered, when nothing is ready any more, by `idle EVENTS DUE`. `spawn` announces a program that follows the clock too,
 * `unborn` takes that back.
 */
import { pause } from "../time/pause.ts";
import { type Followers, listenForFollowers, NEVER_MS } from "./followers.ts";
import { undelivered } from "./kernel-backlog.ts";
import { lastTickMs, TICK_MS } from "./kernel-ticks.ts";

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
/**
 * Ticks of the kernel's clock between traffic and a step: an age that it tells may be one too many or too few, so a step that
 * begins in the middle of them has no doubt on which side of it traffic was.
 */
const TICKS_APART = 3;
/** Quiet turns without any timer, a pause after each, after which nothing will come. */
const FORLORN_TURNS = 500;
/** Longer than any story. What repeats for ever would otherwise move the clock for ever. */
const LONGEST_STORY_MS = 3_600_000;

const LOOK_MS = 20;

let made = 0;

export async function createTestClock(): Promise<TestClock> {
  made += 1;
  const name = `lastcall-clock-${process.pid}-${made}`;
  let history = "";
  let nowMs = START_MS;
  let timers: readonly { readonly dueMs: number; readonly what: () => void }[] = [];

  const step = (toMs: number): string => {
    nowMs = toMs;
    const fromMs = lastTickMs() - (TICKS_APART / 2) * TICK_MS;
    const words = `at ${toMs} ${fromMs.toFixed(3)}\n`;
    history += words;
    return words;
  };
  step(START_MS);
  const followers = await listenForFollowers(name, () => history);

  /** @returns whether nothing happened in it, and nothing is on its way */
  const quietTurn = async (): Promise<boolean> => {
    const before = new Map(followers.all().map((follower) => [follower, follower.events()]));
    await followers.ask("sync\n");
    const quiet = followers.all().every((follower) => follower.events() === before.get(follower));
    for (let own = 0; own < OWN_TURNS; own += 1) await new Promise((resolve) => setImmediate(resolve));
    return quiet && followers.awaited() === 0 && undelivered() === 0;
  };

  /** Until nothing happens any more. @returns whether nothing happened at all */
  const settle = async (): Promise<boolean> => {
    let still = true;
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const stays = await quietTurn();
      quiet = stays ? quiet + 1 : 0;
      still = still && stays;
    }
    return still;
  };

  const nextMs = (): number => {
    const dues = [...followers.all().map((follower) => follower.dueMs()), ...timers.map(({ dueMs }) => dueMs)];
    const planned = dues.filter((dueMs) => dueMs !== NEVER_MS);
    return planned.length === 0 ? NEVER_MS : Math.min(...planned);
  };

  /** Whether there may have been traffic since the last step: a timer alone, such as a look at the sockets, makes none. */
  let hadTraffic = true;

  /** The programs' timers come first, then what they bring about, then the test's. */
  const move = async (toMs: number): Promise<void> => {
    await followers.ask(step(Math.max(toMs, nowMs)));
    followers.tell("run\n");
    const still = await settle();
    const due = timers.filter(({ dueMs }) => dueMs <= nowMs).toSorted((one, other) => one.dueMs - other.dueMs);
    timers = timers.filter(({ dueMs }) => dueMs > nowMs);
    for (const { what } of due) what();
    hadTraffic = !still || due.length > 0;
  };

  /** @returns whether what the kernel has timed by now is clearly before a step, with nothing since */
  const isApart = async (): Promise<boolean> => {
    const fromMs = lastTickMs();
    await pause((TICKS_APART + 1) * TICK_MS, "the kernel's clock has its own ticks");
    return (await settle()) && lastTickMs() - fromMs >= TICKS_APART * TICK_MS;
  };

  let forlornTurns = 0;
  const advance = async (): Promise<void> => {
    const still = await settle();
    hadTraffic = hadTraffic || !still;
    if (hadTraffic && !(await isApart())) return;
    const dueMs = nextMs();
    forlornTurns = dueMs === NEVER_MS ? forlornTurns + 1 : 0;
    if (forlornTurns > FORLORN_TURNS || nowMs - START_MS > LONGEST_STORY_MS)
      throw new Error(
        `at ${nowMs - START_MS} ms nothing is left to wait for; ${followers.all().length} programs follow`,
      );
    if (dueMs !== NEVER_MS) await move(dueMs);
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
