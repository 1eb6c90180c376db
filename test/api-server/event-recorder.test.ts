import { expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/api-server/api-request.ts";
import type { EventSpec } from "../../src/api-server/event-object.ts";
import { createEventRecorder } from "../../src/api-server/event-recorder.ts";
import { eventually } from "../time/eventually.ts";

function about(uid: string, namespace = "shop", type: EventSpec["type"] = "Warning"): EventSpec {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid };
  return { namespace, owner, type, reason: "NotInjected", message: "Pod web-1 was left alone." };
}

function senderUnderTest(
  answer: (question: ApiRequest) => Promise<ApiResponse>,
  isKnown: (namespace: string) => boolean = () => true,
) {
  const clock = { nowMs: 0 };
  const counts = new Map<string, number>();
  const asked: ApiRequest[] = [];
  const tell = createEventRecorder({
    request: (question) => {
      asked.push(question);
      return answer(question);
    },
    nowMs: () => clock.nowMs,
    wallMs: () => 1_700_000_000_000 + clock.nowMs,
    random: () => 1,
    suffix: () => "abc",
    instance: "web-1",
    reporter: "lastcall.dev/relay",
    isKnown,
    count: (result) => counts.set(result, (counts.get(result) ?? 0) + 1),
  });
  const settled = (counted: Readonly<Record<string, number>>) =>
    eventually(() => expect(Object.fromEntries(counts)).toEqual(counted));
  return { tell, clock, asked, settled };
}

test("Events go one after the other to the namespace of their Pod", async () => {
  const { tell, asked, settled } = senderUnderTest(async () => ({ status: 201, text: "" }));
  tell(about("a"));
  tell(about("b"));
  tell(about("a"));
  expect(asked).toHaveLength(1);
  await settled({ sent: 2, repeated: 1 });
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(2).fill("POST /api/v1/namespaces/shop/events"),
  );
  expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ lastTimestamp: "2023-11-14T22:13:20Z", count: 1 });
});

test("a namespace that the cluster has not shown is told nothing, and takes no other's turn", async () => {
  const { tell, asked, settled } = senderUnderTest(
    async () => ({ status: 201, text: "" }),
    (namespace) => namespace === "shop",
  );
  for (let at = 0; at < 1_000; at += 1) tell(about(`u${at}`, `made-up-${at}`));
  expect(asked).toEqual([]);
  tell(about("a"));
  await settled({ unknown_namespace: 1_000, sent: 1 });
});

test("an API server that never answers holds no one, and what it holds up is bounded", async () => {
  const { tell, clock, asked, settled } = senderUnderTest(() => new Promise(() => undefined));
  for (let at = 0; at < 300; at += 1) {
    // One a second is within the budget of all.
    clock.nowMs += 1_000;
    tell(about(`u${at}`, `n${at}`));
  }
  expect(asked).toHaveLength(1);
  await settled({ queue_full: 199 });
});

test.for([
  { says: "does not answer", answer: () => Promise.reject(new Error("no answer")) },
  { says: "is overloaded", answer: async () => ({ status: 429, text: "" }) },
  { says: "fails", answer: async () => ({ status: 500, text: "" }) },
])("while the API server $says it is not asked again for a while", async ({ answer }) => {
  const { tell, clock, asked, settled } = senderUnderTest(answer);
  for (const uid of ["a", "b", "c"]) tell(about(uid));
  await settled({ failed: 3 });
  expect(asked).toHaveLength(1);
  clock.nowMs = 500;
  tell(about("d"));
  await settled({ failed: 4 });
  expect(asked).toHaveLength(2);
});

test("one Event that is refused does not stop the next", async () => {
  const { tell, asked, settled } = senderUnderTest(async () => ({ status: 403, text: "" }));
  for (const uid of ["a", "b"]) tell(about(uid));
  await settled({ failed: 2 });
  expect(asked).toHaveLength(2);
});

test("an Event says whether it is a warning, and which part of the program tells it", async () => {
  const { tell, asked, settled } = senderUnderTest(async () => ({ status: 201, text: "" }));
  tell(about("a", "shop", "Normal"));
  const nameless = about("b", "shop");
  tell({ ...nameless, owner: { ...nameless.owner, apiVersion: "" } });
  await settled({ sent: 2 });
  const [first, second] = asked.map(({ body }) => JSON.parse(body ?? ""));
  expect(first).toMatchObject({
    type: "Normal",
    reportingComponent: "lastcall.dev/relay",
    involvedObject: { apiVersion: "apps/v1" },
  });
  expect(second.type).toBe("Warning");
  expect(second.involvedObject).toEqual({ kind: "ReplicaSet", name: "web", uid: "b", namespace: "shop" });
});
