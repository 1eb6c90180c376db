import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EventSpec, toEventObject } from "../../../src/api-server/event-object.ts";
import { type Outcome, SKIP_REASONS, type SkipReason } from "../../../src/injection/outcome.ts";
import { PROBLEMS, type Problem, type ProblemCode } from "../../../src/policy/problem.ts";
import { resolvePolicy } from "../../../src/policy/resolve.ts";
import { outcomeEvents, outcomeRecorder, settingsEvents } from "../../../src/webhook/cluster/admission-events.ts";
import { anyText } from "../../any-text.ts";

const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "u-1" };
const POD = { metadata: { generateName: "web-7d9f-", ownerReferences: [{ ...OWNER, controller: true }] } };

const { policy, origins } = resolvePolicy([], {});

function createSkippedOutcome(reason: SkipReason, problems: readonly Problem[] = []): Outcome {
  return { kind: "unchanged", reason, explanation: { policy, origins, problems } };
}

function createProblem(code: ProblemCode, message = "Got nonsense."): Problem {
  return { code, where: "pod web-7d9f-, somewhere", message };
}

test("an Event is recorded for a Pod that is skipped for an unexpected reason, and not for an expected reason", () => {
  const recordedReasons = (Object.keys(SKIP_REASONS) as SkipReason[]).filter(
    (reason) => outcomeEvents(POD, "shop", createSkippedOutcome(reason)).length,
  );
  expect(recordedReasons).toEqual([
    "too_many_containers",
    "host_network",
    "zero_grace",
    "classic_would_block_completion",
    "name_taken",
    "port_conflict",
    "image_unpullable",
    "own_hooks",
    "limit_range_conflict",
    "invalid_value",
    "patch_too_large",
  ]);
});

test("the Event of a skipped Pod has the Pod's name, the reason and the message", () => {
  expect(outcomeEvents(POD, "shop", createSkippedOutcome("own_hooks"))).toEqual([
    {
      namespace: "shop",
      owner: OWNER,
      type: "Warning",
      reason: "NotInjected",
      message: `Pod web-7d9f- was not injected (own_hooks): ${SKIP_REASONS.own_hooks}.`,
    },
  ]);
});

test("problems with the same code share one Event, and an unknown namespace does not cause an Event", () => {
  const problems = (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => createProblem(code));
  const events = outcomeEvents(
    POD,
    "shop",
    createSkippedOutcome("up_to_date", [...problems, createProblem("bad_value", "Another.")]),
  );
  expect(events).toHaveLength(problems.length - 1);
  expect(events.map(({ reason }) => reason)).not.toContain("NamespaceUnknown");
  const badValueEvent = events.find(({ reason }) => reason === "BadValue");
  expect(badValueEvent?.message).toBe("pod web-7d9f-, somewhere: Got nonsense. pod web-7d9f-, somewhere: Another.");
});

test.for(["disabled", "not_enabled", "system_namespace", "mirror_pod"] as const)(
  "a Pod that is skipped as `%s` does not get an Event about its invalid settings",
  (reason) => {
    expect(outcomeEvents(POD, "shop", createSkippedOutcome(reason, [createProblem("bad_value")]))).toEqual([]);
  },
);

test("a refused Pod does not get an Event, because the response contains the reason", () => {
  const explanation = { policy, origins, problems: [createProblem("bad_value")] };
  expect(outcomeEvents(POD, "shop", { kind: "refused", message: "no", explanation })).toEqual([]);
});

describe("the owner reference", () => {
  test.for([
    { title: "a Pod without owners", ownerReferences: undefined },
    { title: "an owner that is not a controller", ownerReferences: [{ ...OWNER, controller: false }] },
    { title: "a node", ownerReferences: [{ ...OWNER, kind: "Node", controller: true }] },
    { title: "a reference without uid", ownerReferences: [{ ...OWNER, uid: "", controller: true }] },
    {
      title: "a name that would leave the request's path",
      ownerReferences: [{ ...OWNER, name: "../../secrets", controller: true }],
    },
    { title: "a string instead of a list", ownerReferences: "ReplicaSet" },
  ])("of a Pod is ignored if it is invalid or not a controller: $title", ({ ownerReferences }) => {
    expect(
      outcomeEvents({ metadata: { name: "a", ownerReferences } }, "shop", createSkippedOutcome("own_hooks")),
    ).toEqual([]);
  });

  test("of the controller is used if there are several owner references", () => {
    const ownerReferences = [
      { ...OWNER, uid: "u-0", controller: false },
      { ...OWNER, controller: true },
    ];
    expect(
      outcomeEvents({ metadata: { ownerReferences } }, "shop", createSkippedOutcome("own_hooks"))[0]?.owner,
    ).toEqual(OWNER);
  });
});

test("for any Pod, Events have printable messages of limited length, and no call throws", { timeout: 180_000 }, () => {
  fc.assert(
    fc.property(fc.jsonValue(), anyText({ maxLength: 3_000 }), (metadata, message) => {
      const pod = { metadata: { ...POD.metadata, generateName: metadata } };
      const events = [
        ...outcomeEvents(pod, "shop", createSkippedOutcome("own_hooks", [createProblem("bad_value", message)])),
        ...outcomeEvents({ metadata }, "shop", createSkippedOutcome("own_hooks")),
      ];
      for (const event of events) expect(event.message).toMatch(/^[\x20-\x7e]{1,1000}$/);
    }),
  );
});

test("the name, namespace, times and count of an Event have the form that the API server accepts", () => {
  const [spec] = outcomeEvents(POD, "shop", createSkippedOutcome("own_hooks"));
  if (spec === undefined) throw new Error("no Event was created");
  const longName = { ...spec, owner: { ...spec.owner, name: `${"a".repeat(229)}.${"b".repeat(20)}` } };
  const occurrences = { count: 3, firstMs: 1_000_999, lastMs: 2_000_000, nameSuffix: "0123456789abcdef" };
  const reporter = { instance: "web-1", reporter: "lastcall.dev/webhook" };
  const event = toEventObject(longName, { ...occurrences, ...reporter });
  expect(event).toMatchObject({
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "shop", name: `${"a".repeat(229)}.0123456789abcdef` },
    involvedObject: { kind: "ReplicaSet", namespace: "shop", uid: "u-1" },
    firstTimestamp: "1970-01-01T00:16:40Z",
    lastTimestamp: "1970-01-01T00:33:20Z",
    count: 3,
  });
});

test("every Event of an admission is sent to the API server", () => {
  const sentEvents: EventSpec[] = [];
  const record = outcomeRecorder((event) => sentEvents.push(event));
  const outcome = createSkippedOutcome("own_hooks", [createProblem("bad_value")]);
  record(POD, "shop", outcome);
  expect(sentEvents).toEqual(outcomeEvents(POD, "shop", outcome));
  expect(sentEvents).toHaveLength(2);
});

describe("an invalid setting of an object", () => {
  const metadata = { name: "shop", uid: "7" };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata };

  test("of a Namespace is recorded as an Event of the Namespace", () => {
    expect(settingsEvents(namespace, "shop", [createProblem("unknown_label", "There is none.")])).toEqual([
      {
        namespace: "shop",
        owner: { apiVersion: "v1", kind: "Namespace", name: "shop", uid: "7" },
        type: "Warning",
        reason: "UnknownLabel",
        message: expect.stringContaining("There is none."),
      },
    ]);
  });

  test("of a Pod is recorded as an Event of the Pod's controller", () => {
    expect(
      settingsEvents({ kind: "Pod", ...POD }, "shop", [createProblem("bad_value")]).map(({ owner }) => owner.kind),
    ).toEqual(["ReplicaSet"]);
  });

  test("is not recorded for an object that the API server has not stored yet", () => {
    const { uid: _none, ...unstored } = metadata;
    expect(settingsEvents({ ...namespace, metadata: unstored }, "shop", [createProblem("bad_value")])).toEqual([]);
  });
});
