import { describe, expect, test } from "vitest";
import type { InjectionRequest } from "../../src/injection/inject.ts";
import { PATCHED, REFUSED, UNCHANGED, WARNED } from "./chosen-outcomes.ts";
import { JSON_HEADERS, reviewText } from "./pod-review.ts";
import { samplesOf, serverUnderTest } from "./server-under-test.ts";

const UID = "705ab4f5-6393-11e8-b7cc-42010a800002";

/** An additional key could leak the Pod, the patch or a user's secret. */
const LINE_KEYS = [
  ...["dryRun", "level", "mode", "ms", "msg", "namespace", "outcome", "pod", "problems", "reason", "status"],
  ...["time", "uid"],
];

async function ask(server: ReturnType<typeof serverUnderTest>, fields = {}) {
  return server.app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload: reviewText(fields) });
}

test("the answer for an injected Pod has the uid of the request, a patch and its type", async () => {
  const answer = await ask(serverUnderTest({ inject: () => PATCHED }));
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-type"]).toContain("application/json");
  const body = answer.json();
  expect(body).toMatchObject({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  expect(body.response).toMatchObject({ uid: UID, allowed: true, patchType: "JSONPatch" });
  expect(JSON.parse(Buffer.from(body.response.patch, "base64").toString())).toEqual(PATCHED.patch);
});

test("a Pod with a mistake in its settings is allowed with a warning", async () => {
  const server = serverUnderTest({ inject: () => WARNED });
  const { response } = (await ask(server)).json();
  expect(response.allowed).toBe(true);
  expect(response.warnings).toHaveLength(1);
  expect(samplesOf(await server.metrics(), "lastcall_problems_total").get('{code="bad_value"}')).toBe(1);
  expect(server.lines()[0]).toMatchObject({ problems: ["bad_value"] });
});

test("a refusal is a review with a status message, not an HTTP error", async () => {
  const answer = await ask(serverUnderTest({ inject: () => REFUSED }));
  expect(answer.statusCode).toBe(200);
  expect(answer.json().response).toMatchObject({ uid: UID, allowed: false, status: { message: REFUSED.message } });
});

test("an answer with non-ASCII letters arrives complete", async () => {
  const message = "The value 9₀s — drain-délai — cannot be read.";
  const answer = await ask(serverUnderTest({ inject: () => ({ ...REFUSED, message }) }));
  expect(answer.json().response.status.message).toBe(message);
  expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.body)));
});

test("a skipped Pod gets neither a patch nor a patch type", async () => {
  const { response } = (await ask(serverUnderTest({ inject: () => UNCHANGED }))).json();
  expect(response).toMatchObject({ uid: UID, allowed: true });
  expect(response).not.toHaveProperty("patch");
  expect(response).not.toHaveProperty("patchType");
});

describe("an internal error is a bare HTTP 500, so that the failure policy decides", () => {
  test("when the injector throws", async () => {
    const server = serverUnderTest({
      inject: () => {
        throw new Error("the injector broke");
      },
    });
    const answer = await ask(server);
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain("allowed");
    expect(answer.body).not.toContain("broke");
    expect(server.lines()).toMatchObject([
      { level: 50, outcome: "fault", uid: UID, err: { message: "the injector broke" } },
    ]);
    expect(await server.metrics()).toContain('lastcall_admissions_total{outcome="fault"');
  });

  test("when the namespace cannot be read", async () => {
    const server = serverUnderTest({ namespaceAnnotations: () => Promise.reject(new Error("gone")) });
    expect((await ask(server)).statusCode).toBe(500);
    expect(server.lines()).toHaveLength(1);
  });
});

describe("a review of anything but the creation of a Pod is allowed unchanged and skips the injector:", () => {
  test.for([
    { title: "an update", fields: { operation: "UPDATE" } },
    { title: "a deletion, which has no object", fields: { operation: "DELETE", object: null } },
    { title: "another resource", fields: { resource: { group: "apps", version: "v1", resource: "deployments" } } },
    { title: "a subresource", fields: { subResource: "ephemeralcontainers" } },
  ])("$title", async ({ fields }) => {
    const server = serverUnderTest({
      inject: () => {
        throw new Error("asked");
      },
    });
    const answer = await ask(server, fields);
    expect(answer.statusCode).toBe(200);
    expect(answer.json().response).toEqual({ uid: UID, allowed: true });
    expect(await server.metrics()).toContain('outcome="skipped",reason="not_a_pod_creation"');
  });
});

test("a dry run is answered like any other request and marked in metrics and log", async () => {
  const server = serverUnderTest({ inject: () => PATCHED });
  const wet = await ask(server);
  const dry = await ask(server, { dryRun: true });
  expect(dry.body).toBe(wet.body);
  const samples = samplesOf(await server.metrics(), "lastcall_admissions_total");
  expect(samples.get('{outcome="injected",reason="none",mode="native",dry_run="true"}')).toBe(1);
  expect(server.lines()[1]).toMatchObject({ dryRun: true });
});

test("the log has one line per request, which names the Pod and never shows its content", async () => {
  const server = serverUnderTest({ inject: () => PATCHED });
  await ask(server);
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
  expect(Object.keys(server.lines()[0] ?? {}).sort()).toEqual(LINE_KEYS);
  expect(server.logText()).not.toContain("hunter2");
  expect(server.logText()).not.toContain("PASSWORD");
});

test("a name that is not a string or far too long cannot break the log line", async () => {
  const server = serverUnderTest({ inject: () => PATCHED });
  await ask(server, { object: { metadata: { name: { a: 1 }, generateName: "x".repeat(5_000) } } });
  expect(String(server.lines()[0]?.["pod"])).toHaveLength(253);
});

test("the injector receives the namespace of the request, its annotations and the opt-in mode", async () => {
  const seen: InjectionRequest[] = [];
  const server = serverUnderTest({
    rules: { optIn: "label" },
    namespaceAnnotations: async (name) => ({ "lastcall.dev/drain-delay": name === "shop" ? "9s" : "1s" }),
    inject: (request) => {
      seen.push(request);
      return UNCHANGED;
    },
  });
  await ask(server);
  expect(seen).toMatchObject([
    { namespace: "shop", optIn: "label", namespaceAnnotations: { "lastcall.dev/drain-delay": "9s" }, overrides: [] },
  ]);
});

test("an admission of one second is 1 in the histogram and 1000 ms in the log", async () => {
  let nowMs = 5_000;
  const server = serverUnderTest({
    nowMs: () => nowMs,
    inject: () => {
      nowMs += 1_000;
      return UNCHANGED;
    },
  });
  await ask(server);
  expect(samplesOf(await server.metrics(), "lastcall_admission_duration_seconds_sum").get("")).toBe(1);
  expect(server.lines()[0]).toMatchObject({ ms: 1_000 });
});

describe("the other routes", () => {
  test("readiness follows the certificate while liveness stays", async () => {
    const { app } = serverUnderTest({ unreadiness: () => "the certificate has expired" });
    const ready = await app.inject({ url: "/readyz" });
    expect(ready.statusCode).toBe(503);
    expect(ready.body).toContain("the certificate has expired");
    expect((await app.inject({ url: "/healthz" })).statusCode).toBe(200);
    expect((await serverUnderTest().app.inject({ url: "/readyz" })).statusCode).toBe(200);
  });

  test("the answer for an unknown path names the known ones, and no admission is counted", async () => {
    const { app, metrics } = serverUnderTest();
    const answer = await app.inject({ method: "POST", url: "/mutating", headers: JSON_HEADERS, payload: reviewText() });
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain("/mutate");
    expect((await app.inject({ url: "/mutate" })).statusCode).toBe(404);
    expect(samplesOf(await metrics(), "lastcall_admissions_total").size).toBe(0);
  });

  test("metrics are served in the format of Prometheus, each with its help", async () => {
    const answer = await serverUnderTest().app.inject({ url: "/metrics" });
    expect(answer.headers["content-type"]).toContain("text/plain");
    for (const name of ["lastcall_admissions_total", "process_cpu_seconds_total", "process_resident_memory_bytes"]) {
      expect(answer.body).toMatch(new RegExp(`# HELP ${name} .+\\.\n`));
    }
  });
});
