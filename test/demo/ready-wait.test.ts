import { expect, test } from "vitest";
import { planPod } from "../../src/demo/pods/pod-plan.ts";
import type { PodEvent } from "../../src/demo/pods/running-pod.ts";
import { readinessFailure } from "../../src/demo/rollout/rollout.ts";

const plan = planPod({ metadata: { name: "web-1" }, spec: { containers: [{ name: "app" }] } });
const event = (type: PodEvent["type"], detail: string): PodEvent => ({ atMs: 0, container: "app", type, detail });
const EXIT_EVENT = event("exited", "status 3");

test("the wait for a ready Pod continues if the app exits twice", () => {
  expect(readinessFailure([{ plan, events: [EXIT_EVENT, EXIT_EVENT] }], 29_000)).toBeUndefined();
});

test("the wait for a ready Pod ends when the app exits a third time, and reports the app's last output", () => {
  expect(readinessFailure([{ plan, events: [EXIT_EVENT, EXIT_EVENT, event("line", "boom"), EXIT_EVENT] }], 1_500)).toBe(
    "Pod web-1 keeps exiting: container app exited with status 3; last output: app: boom",
  );
});

test("the wait for a ready Pod ends after 30 s, even if the app prints nothing", () => {
  expect(readinessFailure([{ plan, events: [] }], 30_001)).toBe(
    "Pod web-1 did not become Ready within 30 s: it runs, but its readiness probe fails; it printed nothing",
  );
});
