import { expect, test } from "vitest";
import { planPod } from "../../src/demo/pods/pod-plan.ts";
import type { PodEvent } from "../../src/demo/pods/running-pod.ts";
import { readinessFailure } from "../../src/demo/rollout/rollout.ts";

const plan = planPod({ metadata: { name: "web-1" }, spec: { containers: [{ name: "app" }] } });
const event = (what: PodEvent["what"], detail: string): PodEvent => ({ atMs: 0, container: "app", what, detail });
const EXIT = event("exited", "status 3");

test("an app that has ended once or twice is waited for", () => {
  expect(readinessFailure([{ plan, events: [EXIT, EXIT] }], 29_000)).toBeUndefined();
});

test("an app that ends again and again is not waited for, and its last words are told", () => {
  expect(readinessFailure([{ plan, events: [EXIT, EXIT, event("line", "boom"), EXIT] }], 1_500)).toBe(
    "Pod web-1 does not stay up: app ended with status 3; it printed last: app: boom",
  );
});

test("a Pod that runs and never gets Ready is told after 30 s, even when it prints nothing", () => {
  expect(readinessFailure([{ plan, events: [] }], 30_001)).toBe(
    "Pod web-1 was not Ready within 30 s: it runs, and its readiness probe fails; it printed nothing",
  );
});
