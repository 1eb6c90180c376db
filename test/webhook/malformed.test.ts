import { describe, expect, test } from "vitest";
import { PATCHED } from "./chosen-outcomes.ts";
import { JSON_HEADERS, reviewOf, reviewText } from "./pod-review.ts";
import { createServerUnderTest, samplesOf, sumOf } from "./server-under-test.ts";

type MalformedReview = {
  readonly title: string;
  readonly payload: string;
  readonly reason: string;
  readonly expectedMessage: RegExp;
};

function reviewWithout(field: string): string {
  return reviewText({ [field]: undefined });
}

const MALFORMED_REVIEWS: readonly MalformedReview[] = [
  { title: "an empty body", payload: "", reason: "empty_body", expectedMessage: /body is empty/ },
  { title: "a body of spaces", payload: "  \r\n ", reason: "empty_body", expectedMessage: /body is empty/ },
  {
    title: "a body that ends in the middle of an object",
    payload: reviewText().slice(0, -9),
    reason: "truncated_json",
    expectedMessage: /ends after [0-9]+ characters/,
  },
  {
    title: "a body that ends in the middle of a string",
    payload: '{"kind":"Admissi',
    reason: "truncated_json",
    expectedMessage: /ends after 16 characters/,
  },
  { title: "YAML", payload: "kind: AdmissionReview\n", reason: "invalid_json", expectedMessage: /not JSON/ },
  {
    title: "JSON with a trailing comma",
    payload: '{"a":1,}',
    reason: "invalid_json",
    expectedMessage: /at position 7/,
  },
  { title: "binary bytes", payload: "\u0000\u0001\u0002", reason: "invalid_json", expectedMessage: /not JSON/ },
  { title: "a list", payload: "[]", reason: "wrong_kind", expectedMessage: /is a list/ },
  { title: "null", payload: "null", reason: "wrong_kind", expectedMessage: /is null/ },
  { title: "a number", payload: "7", reason: "wrong_kind", expectedMessage: /is a number/ },
  {
    title: "a bare Pod",
    payload: '{"kind":"Pod","apiVersion":"v1"}',
    reason: "wrong_kind",
    expectedMessage: /is "Pod"/,
  },
  {
    title: "a review of version v1beta1",
    payload: JSON.stringify({ ...reviewOf(), apiVersion: "admission.k8s.io/v1beta1" }),
    reason: "wrong_version",
    expectedMessage: /"admission\.k8s\.io\/v1beta1", expected admission\.k8s\.io\/v1\./,
  },
  {
    title: "a review without a request",
    payload: JSON.stringify({ ...reviewOf(), request: null }),
    reason: "no_request",
    expectedMessage: /request is null/,
  },
  {
    title: "a request without a uid",
    payload: reviewWithout("uid"),
    reason: "no_uid",
    expectedMessage: /request\.uid is missing/,
  },
  {
    title: "a uid that is a number",
    payload: reviewText({ uid: 7 }),
    reason: "no_uid",
    expectedMessage: /request\.uid is a number/,
  },
  {
    title: "a request without an object",
    payload: reviewWithout("object"),
    reason: "no_object",
    expectedMessage: /object is missing/,
  },
  {
    title: "a null object",
    payload: reviewText({ object: null }),
    reason: "no_object",
    expectedMessage: /object is null/,
  },
  {
    title: "a list as object",
    payload: reviewText({ object: [] }),
    reason: "no_object",
    expectedMessage: /object is a list/,
  },
];

describe("a malformed review gets status 400 and an error message:", () => {
  test.for(MALFORMED_REVIEWS)("$title", async ({ payload, reason, expectedMessage }) => {
    const { app, lines, metrics } = createServerUnderTest({ inject: () => PATCHED });
    const reply = await app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
    expect(reply.statusCode).toBe(400);
    expect(reply.body).toMatch(expectedMessage);
    expect(reply.body).toMatch(/^[A-Z].*\.\n$/);
    expect(reply.headers["content-type"]).toContain("text/plain");
    const samples = samplesOf(await metrics(), "lastcall_admissions_total");
    expect([...samples]).toEqual([[`{outcome="malformed",reason="${reason}",mode="none",dry_run="false"}`, 1]]);
    expect(lines()).toMatchObject([{ msg: "admission answered", outcome: "malformed", reason, status: 400 }]);
  });
});

test("a review whose content type is not JSON gets status 415 and is counted", async () => {
  const { app, metrics } = createServerUnderTest({ inject: () => PATCHED });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const reply = await app.inject({ method: "POST", url: "/mutate", headers, payload: reviewText() });
  expect(reply.statusCode).toBe(415);
  expect(reply.body).toContain("application/json");
  expect(await metrics()).toContain('reason="wrong_content_type"');
});

test("a review whose JSON content type has a charset parameter is accepted", async () => {
  const { app } = createServerUnderTest({ inject: () => PATCHED });
  const headers = { "content-type": "application/json; charset=utf-8" };
  const reply = await app.inject({ method: "POST", url: "/mutate", headers, payload: reviewText() });
  expect(reply.statusCode).toBe(200);
});

test("a review without a body and a content type is rejected as an empty body", async () => {
  const { app } = createServerUnderTest({ inject: () => PATCHED });
  const reply = await app.inject({ method: "POST", url: "/mutate" });
  expect(reply.statusCode).toBe(400);
  expect(reply.body).toContain("empty");
});

test("a review above 7 MiB gets status 413, and a review of 7 MiB is read", async () => {
  const { app, metrics } = createServerUnderTest({ inject: () => PATCHED });
  const send = (bytes: number) => {
    const bare = reviewText({ padding: "" });
    const payload = reviewText({ padding: "x".repeat(bytes - bare.length) });
    return app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
  };
  const limitBytes = 7 * 1024 * 1024;
  expect((await send(limitBytes)).statusCode).toBe(200);
  const refusedReply = await send(limitBytes + 1);
  expect(refusedReply.statusCode).toBe(413);
  expect(refusedReply.body).toContain("7340032 bytes");
  const samples = samplesOf(await metrics(), "lastcall_admissions_total");
  expect(sumOf(samples)).toBe(2);
  expect([...samples.keys()].join()).toContain('outcome="too_large"');
});

test("the parse error of a review never contains the body, which may have secrets", async () => {
  const { app, logText } = createServerUnderTest({ inject: () => PATCHED });
  const payload = '{"env":"hunter2" hunter2}';
  const reply = await app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
  expect(reply.statusCode).toBe(400);
  expect(reply.body + logText()).not.toContain("hunter2");
});
