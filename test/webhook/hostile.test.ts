import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InjectionRequest } from "../../src/injection/inject.ts";
import type { Outcome } from "../../src/injection/outcome.ts";
import { PATCHED } from "./chosen-outcomes.ts";
import { JSON_HEADERS, POD, reviewText } from "./pod-review.ts";
import { createServerUnderTest, samplesOf, sumOf } from "./server-under-test.ts";

type ReviewReply = { readonly statusCode: number; readonly body: string };

function post(server: ReturnType<typeof createServerUnderTest>, payload: string): Promise<ReviewReply> {
  return server.app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
}

/** Records the inputs of the injector. */
function createRecordingInjector(): {
  readonly requests: InjectionRequest[];
  readonly inject: (request: InjectionRequest) => Outcome;
} {
  const requests: InjectionRequest[] = [];
  return {
    requests,
    inject: (request) => {
      requests.push(request);
      return PATCHED;
    },
  };
}

describe("a review with keys of JavaScript's object prototype", () => {
  test("reaches the injector with an annotation named __proto__, and does not pollute a prototype", async () => {
    const { requests, inject } = createRecordingInjector();
    const text = reviewText().replace('"name":"web-0"', '"name":"web-0","annotations":{"__proto__":"x","a":"b"}');
    const reply = await post(createServerUnderTest({ inject }), text);
    expect(reply.statusCode).toBe(200);
    expect(JSON.stringify(requests[0]?.pod)).toContain('"__proto__":"x"');
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });

  test("gets a patch that does not change an annotation named __proto__", async () => {
    const text = reviewText().replace('"name":"web-0"', '"name":"web-0","annotations":{"__proto__":"x"}');
    const reply = await post(createServerUnderTest(), text);
    expect(reply.statusCode).toBe(200);
    const response = JSON.parse(reply.body).response;
    expect(response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
    expect(Buffer.from(response.patch, "base64").toString()).not.toContain("__proto__");
  });

  test.for(["__proto__", "constructor", "toString"])(
    "with an object under the key %s does not crash the webhook or pollute a prototype",
    async (key) => {
      const hostileJson = `{"${key}":{"polluted":true,"prototype":{"polluted":true}}}`;
      for (const place of ["", '"object":', '"request":']) {
        const text =
          place === ""
            ? hostileJson
            : `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",${place}${hostileJson}}`;
        expect([200, 400]).toContain((await post(createServerUnderTest(), text)).statusCode);
      }
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    },
  );
});

test("the last of two equal JSON keys counts, as in the API server", async () => {
  const { requests, inject } = createRecordingInjector();
  const text = reviewText().replace('"namespace":"shop","object"', '"namespace":"first","namespace":"second","object"');
  expect((await post(createServerUnderTest({ inject }), text)).statusCode).toBe(200);
  expect(requests[0]?.namespace).toBe("second");
});

describe("a review with deep nesting", () => {
  test.for([1_000, 100_000])("of %d levels inside the Pod is allowed, and the Pod is injected", async (levels) => {
    const deepJson = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const text = reviewText().replace('"kind":"Pod","metadata"', `"kind":"Pod","future":${deepJson},"metadata"`);
    const reply = await post(createServerUnderTest(), text);
    expect(reply.statusCode).toBe(200);
    expect(JSON.parse(reply.body).response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
  });

  test("of three million brackets is rejected with a short message", async () => {
    const reply = await post(createServerUnderTest(), "[".repeat(3_000_000));
    expect(reply.statusCode).toBe(400);
    expect(reply.body.length).toBeLessThan(200);
  });
});

test("any request gets status 200 or 400, and is counted once and logged once", {
  timeout: 240_000,
}, async () => {
  const server = createServerUnderTest();
  let sent = 0;
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue().map((object) => reviewText({ object })),
    fc.jsonValue().map((spec) => reviewText({ object: { ...POD, spec } })),
    fc.jsonValue().map((metadata) => reviewText({ object: { ...POD, metadata } })),
    fc.jsonValue().map((containers) => reviewText({ object: { ...POD, spec: { ...POD.spec, containers } } })),
    fc.tuple(fc.nat(400), fc.string()).map(([cut, rest]) => reviewText().slice(0, cut) + rest),
  );
  await fc.assert(
    fc.asyncProperty(text, async (payload) => {
      const reply = await post(server, payload);
      sent += 1;
      expect([200, 400]).toContain(reply.statusCode);
      if (reply.statusCode === 200) expect(JSON.parse(reply.body).response.allowed).toBe(true);
    }),
    { numRuns: 400 },
  );
  expect(sumOf(samplesOf(await server.metrics(), "lastcall_admissions_total"))).toBe(sent);
  expect(server.lines()).toHaveLength(sent);
});
