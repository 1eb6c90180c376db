/** Tests `POST /settings`: every object is allowed, and its invalid settings are reported. */
import { describe, expect, test } from "vitest";
import { eventually } from "../time/eventually.ts";
import { JSON_HEADERS, POD, reviewText } from "./pod-review.ts";
import { createServerUnderTest, samplesOf } from "./server-under-test.ts";

type Fields = Readonly<Record<string, unknown>>;

const createNamespaceReview = (metadata: Fields): Fields => ({
  operation: "UPDATE",
  resource: { group: "", version: "v1", resource: "namespaces" },
  object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", uid: "1", ...metadata } },
});

const createWorkloadReview = (kind: string, metadata: Fields, template: Fields): Fields => ({
  resource: { group: "apps", version: "v1", resource: `${kind.toLowerCase()}s` },
  object: {
    apiVersion: "apps/v1",
    kind,
    metadata: { name: "web", uid: "2", ...metadata },
    spec: { template: { metadata: template, spec: POD.spec } },
  },
});

async function check(fields: Fields) {
  const reportedProblems: (readonly [string, readonly string[]])[] = [];
  const server = createServerUnderTest({
    reportSettings: (_object, where, problems) => reportedProblems.push([where, problems.map(({ code }) => code)]),
  });
  const reply = await server.app.inject({
    method: "POST",
    url: "/settings",
    headers: JSON_HEADERS,
    payload: reviewText(fields),
  });
  return { server, reply, response: reply.json().response, reportedProblems };
}

test.for<[string, Fields, readonly string[]]>([
  [
    "a namespace that opts in with the value of another injector",
    createNamespaceReview({ labels: { "lastcall.dev/inject": "true" } }),
    ['lastcall: namespace shop, label lastcall.dev/inject: Got "true", expected one of enabled, disabled.'],
  ],
  [
    "a namespace that opts in by annotation",
    createNamespaceReview({ annotations: { "lastcall.dev/inject": "enabled" } }),
    [
      "lastcall: namespace shop, annotation lastcall.dev/inject: The annotation has no effect, because webhook selectors match only labels. Set the label.",
    ],
  ],
  [
    "a Pod template with a misspelt annotation",
    createWorkloadReview("Deployment", {}, { annotations: { "lastcall.dev/drian-delay": "5s" } }),
    ['lastcall: pod of Deployment/web: "lastcall.dev/drian-delay" is unknown; did you mean lastcall.dev/drain-delay?'],
  ],
  [
    "an annotation on the workload instead of its Pod template",
    createWorkloadReview("StatefulSet", { annotations: { "lastcall.dev/drain-delay": "5s" } }, {}),
    [
      'lastcall: StatefulSet/web: "lastcall.dev/drain-delay" has no effect on the workload. Set it on the Pod template.',
    ],
  ],
  [
    "a Pod that opts in by annotation",
    { object: { ...POD, metadata: { ...POD.metadata, annotations: { "lastcall.dev/inject": "enabled" } } } },
    [
      "lastcall: pod web-0, annotation lastcall.dev/inject: The annotation has no effect, because webhook selectors match only labels. Set the label.",
    ],
  ],
  ["valid settings", createWorkloadReview("Deployment", {}, { annotations: { "lastcall.dev/drain-delay": "5s" } }), []],
  ["the deletion of an object", { operation: "DELETE", object: null }, []],
])("the settings check allows an object and sends each problem as a warning: %s", async ([, fields, warnings]) => {
  const { reply, response } = await check(fields);
  expect(reply.statusCode).toBe(200);
  expect(response).toEqual({
    uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
    allowed: true,
    ...(warnings.length === 0 ? {} : { warnings }),
  });
});

test("the settings check never changes a Pod, even if its label opts in", async () => {
  const labelledPod = { ...POD, metadata: { ...POD.metadata, labels: { "lastcall.dev/inject": "enabled" } } };
  expect((await check({ object: labelledPod })).response).not.toHaveProperty("patch");
});

test("the settings check counts each review, and each invalid setting by its code", async () => {
  const { server } = await check(createNamespaceReview({ labels: { "lastcall.dev/injct": "enabled" } }));
  const metrics = await server.metrics();
  expect(samplesOf(metrics, "lastcall_problems_total").get('{code="unknown_label"}')).toBe(1);
  expect([...samplesOf(metrics, "lastcall_admissions_total").keys()]).toEqual([
    '{outcome="checked",reason="none",mode="none",dry_run="false"}',
  ]);
  await eventually(() =>
    expect(server.lines()[0]).toMatchObject({ outcome: "checked", pod: "Namespace/shop", problems: ["unknown_label"] }),
  );
});

describe("an Event of the settings check", () => {
  test("is recorded on a workload only for problems outside its Pod template", async () => {
    const settings = { annotations: { "lastcall.dev/mode": "hook" } };
    const { reportedProblems } = await check(
      createWorkloadReview("Deployment", { annotations: { "lastcall.dev/port": "1" } }, settings),
    );
    expect(reportedProblems).toEqual([["shop", ["wrong_scope"]]]);
  });

  test("is not recorded for a dry run", async () => {
    const { reportedProblems } = await check({
      ...createNamespaceReview({ labels: { "lastcall.dev/inject": "on" } }),
      dryRun: true,
    });
    expect(reportedProblems).toEqual([]);
  });
});

test("a malformed review of the settings check is not counted as an internal error", async () => {
  const { app } = createServerUnderTest();
  const reply = await app.inject({ method: "POST", url: "/settings", headers: JSON_HEADERS, payload: "{" });
  expect(reply.statusCode).toBe(400);
});
