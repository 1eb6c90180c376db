import { expect, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";

test("a wait is never over before its time by the same clock", async () => {
  const wantedMs = [3, 7, 10, 20, 33, 50];
  const waits = Array.from({ length: 600 }, async (_, index) => {
    const ms = wantedMs[index % wantedMs.length] ?? 0;
    // Each begins at another part of a millisecond: timers count whole ones.
    await realClock.wait((index % 100) / 7);
    const fromMs = realClock.nowMs();
    await realClock.wait(ms);
    return realClock.nowMs() - fromMs - ms;
  });
  expect(Math.min(...(await Promise.all(waits)))).toBeGreaterThanOrEqual(0);
});

test("a wait that is stopped ends at once, before it began or within", async () => {
  const stop = new AbortController();
  const within = realClock.wait(3_600_000, stop.signal);
  stop.abort();
  await within;
  await realClock.wait(3_600_000, stop.signal);
});
