import { expect, test } from "vitest";
import { SLICE_PACE } from "../../../src/relay/slices/pace.ts";

/** What `watch-runner.ts` lets a watch overrun, and its longest first pause. */
const OVERRUN = 1.5;
const FIRST_PAUSE_MS = 500;

test("a watch that dies is followed by another before what it told is doubted", () => {
  const { watchMs, beliefMs, lookMs } = SLICE_PACE;
  expect(watchMs * OVERRUN + FIRST_PAUSE_MS + lookMs).toBeLessThan(beliefMs);
});

test("a relay cut off from the API server knows it by the end of the shortest usual wait of a drain", () => {
  expect(SLICE_PACE.beliefMs).toBeLessThanOrEqual(5_000);
});
