/**
 * A virtual clock for real programs, which replaces their timers, their clock and the socket ages that they read from the
 * kernel. When all programs are idle, the clock moves to the next timer of a program or of the test. A scenario of a minute
 * therefore takes only the programs' computing time, and a slow host cannot delay a timer.
 *
 * Programs (`on-node.mjs`, `native-clock.c`) connect to an abstract Unix socket and exchange lines with the test:
 * - A program sends `hello PID`, receives the time and `begin`, and sends `ready` when it has started.
 * - The test sends `at MS` to move the clock. The program dates its new socket events and responds with `set`.
 * - The test sends `run` when every program has the time. The programs then run their due timers.
 * - The test sends `sync`. A program responds with `idle EVENTS DUE` when it has no ready event.
 * - A program sends `spawn` before it starts a child on the same clock, and `unborn` if the child failed to start.
 */
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { pause } from "../time/pause.ts";
import { type Followers, listenForFollowers, NEVER_MS } from "./followers.ts";
import { countUndeliveredPackets } from "./kernel-backlog.ts";

export type TestClock = {
  /** Environment variables for programs that follow the clock. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds since the creation of the clock. */
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Waits until the condition is true; checks it every {@link CHECK_MS}. */
  readonly until: (condition: () => boolean | Promise<boolean>) => Promise<void>;
  readonly after: (ms: number, callback: () => void) => void;
  readonly every: (ms: number, callback: () => void) => void;
  /** Registers a started program. The clock stops until the program has connected, and while the program exits. */
  readonly follow: Followers["follow"];
  /**
   * Moves the clock until the promise has settled.
   *
   * @throws the promise's error; also if no timer or event is left that could settle the promise, or after an hour on the clock
   */
  readonly runUntil: <T>(promise: Promise<T>) => Promise<T>;
  readonly end: () => Promise<void>;
};

/** Greater than 0, because programs compute times that precede their start. */
const START_MS = 1_000_000;
/** All programs count as idle after this many consecutive turns without an event. In one turn a request reaches only one program. */
const IDLE_TURNS = 3;
/** Turns of the test's own event loop, which runs the fake apps and clients, in each turn of the clock. */
const EVENT_LOOP_TURNS = 8;
/** The run fails after this many consecutive turns without a timer. A pause follows each of these turns. */
const MAX_TURNS_WITHOUT_TIMER = 500;
const PAUSE_WITHOUT_TIMER_MS = 20;
/** Longer than any scenario. Without a limit a repeated timer would move the clock forever. */
const LONGEST_SCENARIO_MS = 3_600_000;

const CHECK_MS = 20;

// Without TCP_NODELAY the kernel delays a small write until the previous one is acknowledged, up to 40 ms of real time.
for (const channel of ["net.client.socket", "net.server.socket"])
  subscribe(channel, (message) => (message as { readonly socket: Socket }).socket.setNoDelay());

let clockCount = 0;

export async function createTestClock(): Promise<TestClock> {
  clockCount += 1;
  const name = `lastcall-clock-${process.pid}-${clockCount}`;
  let nowMs = START_MS;
  let timers: readonly { readonly dueMs: number; readonly callback: () => void }[] = [];

  const timeLine = () => `at ${nowMs}\n`;
  const followers = await listenForFollowers(name, timeLine);

  /** @returns whether the turn was without events, programs neither start nor exit, and the kernel has delivered all packets */
  const isIdleTurn = async (): Promise<boolean> => {
    const changesBefore = followers.changeCount();
    await followers.request("sync\n");
    for (let turn = 0; turn < EVENT_LOOP_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return (
      followers.changeCount() === changesBefore && followers.pendingCount() === 0 && countUndeliveredPackets() === 0
    );
  };

  /** Waits until all programs are idle. */
  const waitUntilIdle = async (): Promise<void> => {
    for (let idleTurns = 0; idleTurns < IDLE_TURNS; ) idleTurns = (await isIdleTurn()) ? idleTurns + 1 : 0;
  };

  const nextDueMs = (): number => {
    const dueTimes = [...followers.all().map((follower) => follower.dueMs()), ...timers.map(({ dueMs }) => dueMs)];
    const plannedTimes = dueTimes.filter((dueMs) => dueMs !== NEVER_MS);
    return plannedTimes.length === 0 ? NEVER_MS : Math.min(...plannedTimes);
  };

  /** Runs the programs' timers, waits for their effects, and runs the test's timers. */
  const advanceTo = async (toMs: number): Promise<void> => {
    nowMs = Math.max(toMs, nowMs);
    await followers.request(timeLine());
    followers.send("run\n");
    await waitUntilIdle();
    const dueTimers = timers.filter(({ dueMs }) => dueMs <= nowMs).toSorted((one, other) => one.dueMs - other.dueMs);
    timers = timers.filter(({ dueMs }) => dueMs > nowMs);
    for (const { callback } of dueTimers) callback();
  };

  let turnsWithoutTimer = 0;
  const advance = async (): Promise<void> => {
    await waitUntilIdle();
    const dueMs = nextDueMs();
    turnsWithoutTimer = dueMs === NEVER_MS ? turnsWithoutTimer + 1 : 0;
    const place = `at ${nowMs - START_MS} ms`;
    const programs = `${followers.all().length} programs follow the clock`;
    if (turnsWithoutTimer > MAX_TURNS_WITHOUT_TIMER)
      throw new Error(`${place} no timer or event is left that could settle the promise; ${programs}`);
    if (nowMs - START_MS > LONGEST_SCENARIO_MS)
      throw new Error(`${place} the scenario exceeds the limit of ${LONGEST_SCENARIO_MS} ms; ${programs}`);
    if (dueMs === NEVER_MS) await pause(PAUSE_WITHOUT_TIMER_MS, "work outside of the event loop takes time");
    else await advanceTo(dueMs);
  };

  const after: TestClock["after"] = (ms, callback) => {
    timers = [...timers, { dueMs: nowMs + Math.ceil(ms), callback }];
  };
  const every: TestClock["every"] = (ms, callback) =>
    after(ms, () => {
      every(ms, callback);
      callback();
    });
  const wait: TestClock["wait"] = (ms) => new Promise((resolve) => after(ms, resolve));
  return {
    environment: { LASTCALL_TEST_CLOCK: name },
    nowMs: () => nowMs - START_MS,
    after,
    every,
    wait,
    until: async (condition) => {
      while (!(await condition())) await wait(CHECK_MS);
    },
    follow: followers.follow,
    runUntil: async (promise) => {
      let isSettled = false;
      const settlement = promise.finally(() => {
        isSettled = true;
      });
      // The promise is awaited below; an earlier rejection must not count as unhandled.
      settlement.catch(() => {});
      while (!isSettled) await advance();
      return settlement;
    },
    end: followers.end,
  };
}
