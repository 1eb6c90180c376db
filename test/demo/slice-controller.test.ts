import { expect, test } from "vitest";
import { createEndpointFeed, createSliceController } from "../../src/demo/api-server/slice-controller.ts";
import type { PodEvent } from "../../src/demo/pods/running-pod.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const POD = { name: "hello-1", uid: "u1", address: "10.66.0.10" };
const SERVICE = { namespace: "demo", name: "hello", port: 8_080 };

function startController(lagMs: number) {
  const clock = createVirtualClock();
  const written: { atMs: number; slice: unknown }[] = [];
  const controller = createSliceController({
    clock,
    service: SERVICE,
    lagMs,
    write: (slice) => written.push({ atMs: clock.nowMs(), slice }),
  });
  const feed = createEndpointFeed(controller.enqueue);
  const emitEvent = (type: PodEvent["type"], pod = POD) =>
    feed(pod, { atMs: clock.nowMs(), container: "", type, detail: "" });
  const advance = (ms: number) => clock.runUntil(clock.wait(ms));
  return { clock, controller, written, emitEvent, advance };
}

const conditions = (slice: unknown) =>
  (slice as { endpoints: { conditions: object }[] }).endpoints.map((e) => e.conditions);

test("an EndpointSlice of the demo has the fields that Kubernetes' EndpointSlice controller sets", () => {
  const { controller, written, emitEvent } = startController(1_000);
  emitEvent("ready");
  controller.flush();
  expect(written.at(-1)?.slice).toMatchObject({
    metadata: { namespace: "demo", labels: { "kubernetes.io/service-name": "hello" } },
    addressType: "IPv4",
    endpoints: [
      {
        addresses: ["10.66.0.10"],
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: "Pod", namespace: "demo", name: "hello-1", uid: "u1" },
      },
    ],
    ports: [{ port: 8_080, protocol: "TCP" }],
  });
});

test("a deleted Pod is terminating and not ready after the delay, serving until it is unready, and then removed", async () => {
  const { controller, written, emitEvent, advance } = startController(1_000);
  emitEvent("ready");
  controller.flush();
  emitEvent("deleted");
  await advance(999);
  expect(conditions(written.at(-1)?.slice)).toEqual([{ ready: true, serving: true, terminating: false }]);
  expect(controller.withdrawnMs(POD)).toBeUndefined();
  await advance(1);
  expect(conditions(written.at(-1)?.slice)).toEqual([{ ready: false, serving: true, terminating: true }]);
  expect(controller.withdrawnMs(POD)).toBe(1_000);
  emitEvent("unready");
  await advance(1_000);
  expect(conditions(written.at(-1)?.slice)).toEqual([{ ready: false, serving: false, terminating: true }]);
  emitEvent("gone");
  await advance(1_000);
  expect(conditions(written.at(-1)?.slice)).toEqual([]);
  // The removal of the endpoint does not change the time of the withdrawal.
  expect(controller.withdrawnMs(POD)).toBe(1_000);
});

test("a Pod that becomes ready again does not count as withdrawn", async () => {
  const { controller, emitEvent, advance } = startController(10);
  emitEvent("ready");
  await advance(10);
  emitEvent("unready");
  await advance(10);
  expect(controller.withdrawnMs(POD)).toBe(20);
  emitEvent("ready");
  await advance(10);
  expect(controller.withdrawnMs(POD)).toBeUndefined();
});

test("the slice controller writes a change once, even if flush() wrote it early, and does not write after close()", async () => {
  const { controller, written, emitEvent, advance } = startController(1_000);
  emitEvent("ready");
  await advance(500);
  controller.flush();
  expect(written).toHaveLength(1);
  emitEvent("unready");
  await advance(600);
  expect(written).toHaveLength(1);
  controller.close();
  await advance(5_000);
  expect(written).toHaveLength(1);
});
