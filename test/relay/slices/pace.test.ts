/** The relay's delays, on a clock that the test moves. */
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OpenStream } from "../../../src/api-server/api-request.ts";
import type { WithdrawalStatusLine } from "../../../src/contract/relay-wire.ts";
import { createSliceWatches } from "../../../src/relay/slices/slice-watches.ts";

/** The documented minimum wait of a drain; a relay that is cut off must not exceed it. */
const USUAL_WAIT_MS = 5_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Uses global timers, which the test's clock moves. */
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(), ms);
    const wake = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (signal.aborted) wake();
    else signal.addEventListener("abort", wake);
  });

/** Accepts every watch, sends nothing and ends it at its limit, until the API server is down. */
function silentApiServer() {
  let gone = false;
  let accepted = 0;
  const stream: OpenStream = async ({ limitMs, onOpen, signal }) => {
    if (gone) throw new Error("connect ECONNREFUSED");
    onOpen();
    accepted += 1;
    await sleep(limitMs, signal);
    throw new Error("nothing came any more");
  };
  return {
    stream,
    accepted: () => accepted,
    goAway: () => {
      gone = true;
    },
  };
}

function drainBeside(stream: OpenStream) {
  const lines: WithdrawalStatusLine[] = [];
  const watches = createSliceWatches({
    request: async () => ({ status: 200, text: '{"metadata":{"resourceVersion":"1"},"items":[]}' }),
    stream,
    clock: {
      nowMs: () => performance.now(),
      sleep,
      every: (ms, call) => {
        const timer = setInterval(call, ms);
        return () => clearInterval(timer);
      },
    },
    // The longest random delay.
    random: () => 0.999,
    readsPods: false,
    registry: new Registry(),
    log: { info: () => undefined, warn: () => undefined },
  });
  watches.watchPod({ namespace: "shop", pod: "a", uid: "a", addresses: [] }, (line) => lines.push(line));
  return { lines, stop: watches.stop };
}

test("a silent watch of EndpointSlices is replaced before its data is stale", async () => {
  const api = silentApiServer();
  const { lines, stop } = drainBeside(api.stream);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(api.accepted()).toBeGreaterThan(10);
  expect(lines.map(({ state }) => state)).toEqual(["unknown", "out"]);
  await stop();
});

test("a relay without API server sends the status unknown within the shortest usual drain delay", async () => {
  const api = silentApiServer();
  const { lines, stop } = drainBeside(api.stream);
  await vi.advanceTimersByTimeAsync(1);
  api.goAway();
  await vi.advanceTimersByTimeAsync(USUAL_WAIT_MS - 500);
  expect(lines.map(({ state }) => state)).toEqual(["unknown", "out"]);
  // The next check follows within a quarter of a second.
  await vi.advanceTimersByTimeAsync(750);
  expect(lines.map(({ state }) => state)).toEqual(["unknown", "out", "unknown"]);
  await stop();
});
