/** Tests the delays of the slice watches on a clock that the test advances. */
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OpenStream } from "../../../src/api-server/api-request.ts";
import type { WithdrawalStatusLine } from "../../../src/contract/relay-wire.ts";
import { createSliceWatches } from "../../../src/relay/slices/slice-watches.ts";

/** The documented minimum drain delay. A relay that loses the API server must send `unknown` within this time. */
const MIN_DRAIN_DELAY_MS = 5_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Uses global timers, which the fake clock advances. */
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

/** Accepts watches and ends them at their limit without events, until `shutDown` is called. */
function createSilentApiServer() {
  let isDown = false;
  let acceptedCount = 0;
  const stream: OpenStream = async ({ limitMs, onOpen, signal }) => {
    if (isDown) throw new Error("connect ECONNREFUSED");
    onOpen();
    acceptedCount += 1;
    await sleep(limitMs, signal);
    throw new Error("nothing came any more");
  };
  return {
    stream,
    acceptedWatches: () => acceptedCount,
    shutDown: () => {
      isDown = true;
    },
  };
}

function startDrain(stream: OpenStream) {
  const lines: WithdrawalStatusLine[] = [];
  const watches = createSliceWatches({
    request: async () => ({ status: 200, text: '{"metadata":{"resourceVersion":"1"},"items":[]}' }),
    stream,
    clock: {
      nowMs: () => performance.now(),
      sleep,
      every: (ms, callback) => {
        const timer = setInterval(callback, ms);
        return () => clearInterval(timer);
      },
    },
    // Selects the longest random delay.
    random: () => 0.999,
    readsPods: false,
    registry: new Registry(),
    log: { info: () => undefined, warn: () => undefined },
  });
  watches.watchPod({ namespace: "shop", pod: "a", uid: "a", addresses: [] }, (line) => lines.push(line));
  return { lines, stop: watches.stop };
}

test("a silent watch of EndpointSlices is replaced before its data is stale", async () => {
  const api = createSilentApiServer();
  const { lines, stop } = startDrain(api.stream);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(api.acceptedWatches()).toBeGreaterThan(10);
  expect(lines.map(({ state }) => state)).toEqual(["unknown", "out"]);
  await stop();
});

test("a relay without an API server sends the status `unknown` within the shortest usual drain delay", async () => {
  const api = createSilentApiServer();
  const { lines, stop } = startDrain(api.stream);
  await vi.advanceTimersByTimeAsync(1);
  api.shutDown();
  await vi.advanceTimersByTimeAsync(MIN_DRAIN_DELAY_MS - 500);
  expect(lines.map(({ state }) => state)).toEqual(["unknown", "out"]);
  // The relay checks its watches every 250 ms.
  await vi.advanceTimersByTimeAsync(750);
  expect(lines.map(({ state }) => state)).toEqual(["unknown", "out", "unknown"]);
  await stop();
});
