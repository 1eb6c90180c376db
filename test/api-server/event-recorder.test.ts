import { expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/api-server/api-request.ts";
import type { EventSpec } from "../../src/api-server/event-object.ts";
import { createEventRecorder } from "../../src/api-server/event-recorder.ts";
import { eventually } from "../time/eventually.ts";

function createEvent(uid: string, namespace = "shop", type: EventSpec["type"] = "Warning"): EventSpec {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid };
  return { namespace, owner, type, reason: "NotInjected", message: "Pod web-1 was not injected." };
}

function startRecorder(
  respond: (request: ApiRequest) => Promise<ApiResponse>,
  isKnown: (namespace: string) => boolean = () => true,
) {
  const clock = { nowMs: 0 };
  const counts = new Map<string, number>();
  const requests: ApiRequest[] = [];
  const recordEvent = createEventRecorder({
    request: (request) => {
      requests.push(request);
      return respond(request);
    },
    nowMs: () => clock.nowMs,
    wallMs: () => 1_700_000_000_000 + clock.nowMs,
    random: () => 1,
    createNameSuffix: () => "abc",
    instance: "web-1",
    reporter: "lastcall.dev/relay",
    isKnownNamespace: isKnown,
    count: (result) => counts.set(result, (counts.get(result) ?? 0) + 1),
  });
  const expectCounts = (expected: Readonly<Record<string, number>>) =>
    eventually(() => expect(Object.fromEntries(counts)).toEqual(expected));
  return { recordEvent, clock, requests, expectCounts };
}

test("Events are created in sequence in the namespace of their Pod", async () => {
  const { recordEvent, requests, expectCounts } = startRecorder(async () => ({ status: 201, text: "" }));
  recordEvent(createEvent("a"));
  recordEvent(createEvent("b"));
  recordEvent(createEvent("a"));
  expect(requests).toHaveLength(1);
  await expectCounts({ sent: 2, repeated: 1 });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(2).fill("POST /api/v1/namespaces/shop/events"),
  );
  expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({ lastTimestamp: "2023-11-14T22:13:20Z", count: 1 });
});

test("Events of an unknown namespace are neither sent nor counted against the rate limit", async () => {
  const { recordEvent, requests, expectCounts } = startRecorder(
    async () => ({ status: 201, text: "" }),
    (namespace) => namespace === "shop",
  );
  for (let index = 0; index < 1_000; index += 1) recordEvent(createEvent(`u${index}`, `made-up-${index}`));
  expect(requests).toEqual([]);
  recordEvent(createEvent("a"));
  await expectCounts({ unknown_namespace: 1_000, sent: 1 });
});

test("with an unresponsive API server, Events beyond the queue limit are dropped, and the caller is not blocked", async () => {
  const { recordEvent, clock, requests, expectCounts } = startRecorder(() => new Promise(() => undefined));
  for (let index = 0; index < 300; index += 1) {
    // One Event per second is within the rate limit for all namespaces together.
    clock.nowMs += 1_000;
    recordEvent(createEvent(`u${index}`, `n${index}`));
  }
  expect(requests).toHaveLength(1);
  await expectCounts({ queue_full: 199 });
});

test.for([
  { title: "a request without a response", respond: () => Promise.reject(new Error("timeout")) },
  { title: "status 429", respond: async () => ({ status: 429, text: "" }) },
  { title: "status 500", respond: async () => ({ status: 500, text: "" }) },
])("after $title no Event is sent for 500 ms", async ({ respond }) => {
  const { recordEvent, clock, requests, expectCounts } = startRecorder(respond);
  for (const uid of ["a", "b", "c"]) recordEvent(createEvent(uid));
  await expectCounts({ failed: 3 });
  expect(requests).toHaveLength(1);
  clock.nowMs = 500;
  recordEvent(createEvent("d"));
  await expectCounts({ failed: 4 });
  expect(requests).toHaveLength(2);
});

test("a rejected Event does not delay the next Event", async () => {
  const { recordEvent, requests, expectCounts } = startRecorder(async () => ({ status: 403, text: "" }));
  for (const uid of ["a", "b"]) recordEvent(createEvent(uid));
  await expectCounts({ failed: 2 });
  expect(requests).toHaveLength(2);
});

test("an Event has its type, the reporting component and the involved object", async () => {
  const { recordEvent, requests, expectCounts } = startRecorder(async () => ({ status: 201, text: "" }));
  recordEvent(createEvent("a", "shop", "Normal"));
  const event = createEvent("b", "shop");
  recordEvent({ ...event, owner: { ...event.owner, apiVersion: "" } });
  await expectCounts({ sent: 2 });
  const [first, second] = requests.map(({ body }) => JSON.parse(body ?? ""));
  expect(first).toMatchObject({
    type: "Normal",
    reportingComponent: "lastcall.dev/relay",
    involvedObject: { apiVersion: "apps/v1" },
  });
  expect(second.type).toBe("Warning");
  expect(second.involvedObject).toEqual({ kind: "ReplicaSet", name: "web", uid: "b", namespace: "shop" });
});
