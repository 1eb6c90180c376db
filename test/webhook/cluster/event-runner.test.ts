import { expect, test, vi } from "vitest";
import type { ApiAnswer, ApiQuestion } from "../../../src/api-server/api-request.ts";
import type { Outcome } from "../../../src/injection/outcome.ts";
import { resolvePolicy } from "../../../src/policy/resolve.ts";
import { eventSender } from "../../../src/webhook/cluster/event-runner.ts";

const { policy, origin } = resolvePolicy([], {});
const SKIPPED: Outcome = { kind: "unchanged", reason: "own_hooks", explanation: { policy, origin, problems: [] } };

function podOf(uid: string): object {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid, controller: true };
  return { metadata: { ownerReferences: [owner] } };
}

function senderUnderTest(answer: (question: ApiQuestion) => Promise<ApiAnswer>) {
  const clock = { nowMs: 0 };
  const counts = new Map<string, number>();
  const asked: ApiQuestion[] = [];
  const tell = eventSender({
    ask: (question) => {
      asked.push(question);
      return answer(question);
    },
    nowMs: () => clock.nowMs,
    wallMs: () => 1_700_000_000_000 + clock.nowMs,
    random: () => 1,
    suffix: () => "abc",
    instance: "web-1",
    count: (result) => counts.set(result, (counts.get(result) ?? 0) + 1),
  });
  const settled = (counted: Readonly<Record<string, number>>) =>
    vi.waitFor(() => expect(Object.fromEntries(counts)).toEqual(counted));
  return { tell, clock, asked, settled };
}

test("Events go one after the other to the namespace of their Pod", async () => {
  const { tell, asked, settled } = senderUnderTest(async () => ({ status: 201, text: "" }));
  tell(podOf("a"), "shop", SKIPPED);
  tell(podOf("b"), "shop", SKIPPED);
  tell(podOf("a"), "shop", SKIPPED);
  expect(asked).toHaveLength(1);
  await settled({ sent: 2, repeated: 1 });
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(2).fill("POST /api/v1/namespaces/shop/events"),
  );
  expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ lastTimestamp: "2023-11-14T22:13:20Z", count: 1 });
});

test("an API server that never answers holds nobody, and what it holds up is bounded", async () => {
  const { tell, clock, asked, settled } = senderUnderTest(() => new Promise(() => undefined));
  for (let at = 0; at < 300; at += 1) {
    // One a second is within the budget of all.
    clock.nowMs += 1_000;
    tell(podOf(`u${at}`), `n${at}`, SKIPPED);
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
  for (const uid of ["a", "b", "c"]) tell(podOf(uid), "shop", SKIPPED);
  await settled({ failed: 3 });
  expect(asked).toHaveLength(1);
  clock.nowMs = 500;
  tell(podOf("d"), "shop", SKIPPED);
  await settled({ failed: 4 });
  expect(asked).toHaveLength(2);
});

test("one Event that is refused does not stop the next", async () => {
  const { tell, asked, settled } = senderUnderTest(async () => ({ status: 403, text: "" }));
  for (const uid of ["a", "b"]) tell(podOf(uid), "shop", SKIPPED);
  await settled({ failed: 2 });
  expect(asked).toHaveLength(2);
});
