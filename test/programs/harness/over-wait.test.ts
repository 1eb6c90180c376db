import { expect, test } from "vitest";
import { type HeldPod, overWaitSeconds } from "./over-wait.ts";

const held = (drainSeconds: number, ...ends: readonly number[]): HeldPod => ({
  address: "10.0.0.1",
  deletedMs: 1_000,
  drainSeconds,
  forwarded: ends.map((toMs) => ({ pod: "10.0.0.1", fromMs: 0, toMs })),
});

test.for([
  { title: "its drain delay alone", pod: held(5.2), seconds: 0.2 },
  { title: "the quiet period after its last connection", pod: held(8.1, 2_000, 7_000), seconds: 0.1 },
  { title: "less than that, as its connection was idle", pod: held(7, 7_500), seconds: 0 },
  { title: "a connection that never ended", pod: held(30, 2_000, -1), seconds: 0 },
])("a Pod that was held for $title has an over-wait of $seconds s", ({ pod, seconds }) => {
  expect(overWaitSeconds(pod)).toBe(seconds);
});

test("connections of other Pods do not count", () => {
  const other = { pod: "10.0.0.2", fromMs: 0, toMs: 90_000 };
  expect(overWaitSeconds({ ...held(9, 2_000), forwarded: [other] })).toBe(4);
});
