import { expect, test } from "vitest";
import { type DrainedPod, overWaitSeconds } from "./over-wait.ts";

const drainedPod = (drainSeconds: number, ...ends: readonly number[]): DrainedPod => ({
  address: "10.0.0.1",
  deletedMs: 1_000,
  drainSeconds,
  forwardedConnections: ends.map((toMs) => ({ pod: "10.0.0.1", fromMs: 0, toMs })),
});

test.for([
  { title: "the drain delay only", pod: drainedPod(5.2), seconds: 0.2 },
  { title: "the quiet period after its last connection", pod: drainedPod(8.1, 2_000, 7_000), seconds: 0.1 },
  { title: "less than the quiet period after an idle connection", pod: drainedPod(7, 7_500), seconds: 0 },
  { title: "a connection that was never closed", pod: drainedPod(30, 2_000, -1), seconds: 0 },
])("the over-wait of a drain that lasted for $title is $seconds s", ({ pod, seconds }) => {
  expect(overWaitSeconds(pod)).toBe(seconds);
});

test("connections of other Pods do not change the over-wait of a Pod", () => {
  const other = { pod: "10.0.0.2", fromMs: 0, toMs: 90_000 };
  expect(overWaitSeconds({ ...drainedPod(9, 2_000), forwardedConnections: [other] })).toBe(4);
});
