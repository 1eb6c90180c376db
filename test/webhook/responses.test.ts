import { describe, expect, test } from "vitest";
import type { InjectionRequest } from "../../src/injection/inject.ts";
import { PATCHED, REFUSED, UNCHANGED, WARNED } from "./chosen-outcomes.ts";
import { JSON_HEADERS, reviewText } from "./pod-review.ts";
import { createServerUnderTest, samplesOf } from "./server-under-test.ts";

const UID = "705ab4f5-6393-11e8-b7cc-42010a800002";

/** A complete list, because an additional key could leak the Pod, the patch or a user's secret. */
const LOG_LINE_KEYS = [
  ...["dryRun", "level", "mode", "ms", "msg", "namespace", "outcome", "pod", "problems", "reason", "status"],
  ...["time", "uid"],
];

async function sendReview(server: ReturnType<typeof createServerUnderTest>, fields = {}) {
  return server.app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload: reviewText(fields) });
}

test("the response for an injected Pod has the uid of the request, a patch and the patch type", async () => {
  const reply = await sendReview(createServerUnderTest({ inject: () => PATCHED }));
  expect(reply.statusCode).toBe(200);
  expect(reply.headers["content-type"]).toContain("application/json");
  const body = reply.json();
  expect(body).toMatchObject({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  expect(body.response).toMatchObject({ uid: UID, allowed: true, patchType: "JSONPatch" });
  expect(JSON.parse(Buffer.from(body.response.patch, "base64").toString())).toEqual(PATCHED.patch);
});

test("a Pod with an invalid setting is admitted with a warning", async () => {
  const server = createServerUnderTest({ inject: () => WARNED });
  const { response } = (await sendReview(server)).json();
  expect(response.allowed).toBe(true);
  expect(response.warnings).toHaveLength(1);
  expect(samplesOf(await server.metrics(), "lastcall_problems_total").get('{code="bad_value"}')).toBe(1);
  expect(server.lines()[0]).toMatchObject({ problems: ["bad_value"] });
});

test("a refused Pod gets an AdmissionReview with a status message, not an HTTP error", async () => {
  const reply = await sendReview(createServerUnderTest({ inject: () => REFUSED }));
  expect(reply.statusCode).toBe(200);
  expect(reply.json().response).toMatchObject({ uid: UID, allowed: false, status: { message: REFUSED.message } });
});

test("a response with non-ASCII letters arrives complete", async () => {
  const message = "The value 9₀s — drain-délai — cannot be read.";
  const reply = await sendReview(createServerUnderTest({ inject: () => ({ ...REFUSED, message }) }));
  expect(reply.json().response.status.message).toBe(message);
  expect(reply.headers["content-length"]).toBe(String(Buffer.byteLength(reply.body)));
});

test("the response for a skipped Pod does not have a patch or a patch type", async () => {
  const { response } = (await sendReview(createServerUnderTest({ inject: () => UNCHANGED }))).json();
  expect(response).toMatchObject({ uid: UID, allowed: true });
  expect(response).not.toHaveProperty("patch");
  expect(response).not.toHaveProperty("patchType");
});

describe("the webhook responds with status 500 and without a review, so the API server applies the failurePolicy,", () => {
  test("if the injector throws", async () => {
    const server = createServerUnderTest({
      inject: () => {
        throw new Error("the injector broke");
      },
    });
    const reply = await sendReview(server);
    expect(reply.statusCode).toBe(500);
    expect(reply.body).not.toContain("allowed");
    expect(reply.body).not.toContain("broke");
    expect(server.lines()).toMatchObject([
      { level: 50, outcome: "fault", uid: UID, err: { message: "the injector broke" } },
    ]);
    expect(await server.metrics()).toContain('lastcall_admissions_total{outcome="fault"');
  });

  test("if the Pod's namespace cannot be read", async () => {
    const server = createServerUnderTest({ namespaceAnnotations: () => Promise.reject(new Error("gone")) });
    expect((await sendReview(server)).statusCode).toBe(500);
    expect(server.lines()).toHaveLength(1);
  });
});

describe("a review of another request than a Pod's creation is allowed unchanged, without a call of the injector:", () => {
  test.for([
    { title: "an update", fields: { operation: "UPDATE" } },
    { title: "a deletion, which has no object", fields: { operation: "DELETE", object: null } },
    { title: "another resource", fields: { resource: { group: "apps", version: "v1", resource: "deployments" } } },
    { title: "a subresource", fields: { subResource: "ephemeralcontainers" } },
  ])("$title", async ({ fields }) => {
    const server = createServerUnderTest({
      inject: () => {
        throw new Error("called");
      },
    });
    const reply = await sendReview(server, fields);
    expect(reply.statusCode).toBe(200);
    expect(reply.json().response).toEqual({ uid: UID, allowed: true });
    expect(await server.metrics()).toContain('outcome="skipped",reason="not_a_pod_creation"');
  });
});

test("a dry-run review gets the same response as a review without dryRun, and is labelled in metrics and log", async () => {
  const server = createServerUnderTest({ inject: () => PATCHED });
  const normal = await sendReview(server);
  const dryRun = await sendReview(server, { dryRun: true });
  expect(dryRun.body).toBe(normal.body);
  const samples = samplesOf(await server.metrics(), "lastcall_admissions_total");
  expect(samples.get('{outcome="injected",reason="none",mode="native",dry_run="true"}')).toBe(1);
  expect(server.lines()[1]).toMatchObject({ dryRun: true });
});

test("the log has one line per review, with the Pod's name and without the Pod's content", async () => {
  const server = createServerUnderTest({ inject: () => PATCHED });
  await sendReview(server);
  expect(server.lines()).toMatchObject([
    {
      level: 30,
      msg: "admission answered",
      uid: UID,
      namespace: "shop",
      pod: "web-0",
      outcome: "injected",
      mode: "native",
    },
  ]);
  expect(Object.keys(server.lines()[0] ?? {}).sort()).toEqual(LOG_LINE_KEYS);
  expect(server.logText()).not.toContain("hunter2");
  expect(server.logText()).not.toContain("PASSWORD");
});

test("a Pod name that is not a string or is too long is truncated in the log line", async () => {
  const server = createServerUnderTest({ inject: () => PATCHED });
  await sendReview(server, { object: { metadata: { name: { a: 1 }, generateName: "x".repeat(5_000) } } });
  expect(String(server.lines()[0]?.["pod"])).toHaveLength(253);
});

test("the injector receives the request's namespace, the annotations of that namespace, and the opt-in mode", async () => {
  const requests: InjectionRequest[] = [];
  const server = createServerUnderTest({
    rules: { optIn: "label" },
    namespaceAnnotations: async (name) => ({ "lastcall.dev/drain-delay": name === "shop" ? "9s" : "1s" }),
    inject: (request) => {
      requests.push(request);
      return UNCHANGED;
    },
  });
  await sendReview(server);
  expect(requests).toMatchObject([
    { namespace: "shop", optIn: "label", namespaceAnnotations: { "lastcall.dev/drain-delay": "9s" }, overrides: [] },
  ]);
});

test("an admission of one second is recorded as 1 in the histogram and as 1000 ms in the log", async () => {
  let nowMs = 5_000;
  const server = createServerUnderTest({
    nowMs: () => nowMs,
    inject: () => {
      nowMs += 1_000;
      return UNCHANGED;
    },
  });
  await sendReview(server);
  expect(samplesOf(await server.metrics(), "lastcall_admission_duration_seconds_sum").get("")).toBe(1);
  expect(server.lines()[0]).toMatchObject({ ms: 1_000 });
});

describe("the webhook's HTTP server", () => {
  test("fails readiness, but not liveness, without a valid certificate", async () => {
    const { app } = createServerUnderTest({ unreadyReason: () => "the certificate has expired" });
    const ready = await app.inject({ url: "/readyz" });
    expect(ready.statusCode).toBe(503);
    expect(ready.body).toContain("the certificate has expired");
    expect((await app.inject({ url: "/healthz" })).statusCode).toBe(200);
    expect((await createServerUnderTest().app.inject({ url: "/readyz" })).statusCode).toBe(200);
  });

  test("responds to an unknown path with the list of valid paths, and does not count an admission", async () => {
    const { app, metrics } = createServerUnderTest();
    const reply = await app.inject({ method: "POST", url: "/mutating", headers: JSON_HEADERS, payload: reviewText() });
    expect(reply.statusCode).toBe(404);
    expect(reply.body).toContain("/mutate");
    expect((await app.inject({ url: "/mutate" })).statusCode).toBe(404);
    expect(samplesOf(await metrics(), "lastcall_admissions_total").size).toBe(0);
  });

  test("serves every metric in the Prometheus format with a help text", async () => {
    const reply = await createServerUnderTest().app.inject({ url: "/metrics" });
    expect(reply.headers["content-type"]).toContain("text/plain");
    for (const name of ["lastcall_admissions_total", "process_cpu_seconds_total", "process_resident_memory_bytes"]) {
      expect(reply.body).toMatch(new RegExp(`# HELP ${name} .+\\.\n`));
    }
  });
});
