import { expect, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";

test("a wait of the real clock never resolves early", async () => {
  const wantedMs = [3, 7, 10, 20, 33, 50];
  const waits = Array.from({ length: 600 }, async (_, index) => {
    const ms = wantedMs[index % wantedMs.length] ?? 0;
    // Timers count whole milliseconds, so the test starts each wait at another fraction of a millisecond.
    await realClock.wait((index % 100) / 7);
    const fromMs = realClock.nowMs();
    await realClock.wait(ms);
    return realClock.nowMs() - fromMs - ms;
  });
  expect(Math.min(...(await Promise.all(waits)))).toBeGreaterThanOrEqual(0);
});

test("a wait of the real clock resolves immediately if its signal is or was aborted", async () => {
  const stop = new AbortController();
  const pending = realClock.wait(3_600_000, stop.signal);
  stop.abort();
  await pending;
  await realClock.wait(3_600_000, stop.signal);
});
