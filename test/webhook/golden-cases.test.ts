/** Sends the golden cases to the webhook: the patch, applied to the received Pod, must result in the golden file. */
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { injectPod } from "../../src/injection/inject.ts";
import { expectedPodOf, type GoldenCase, listGoldenNames, readGoldenCase } from "../golden/corpus.ts";
import { JSON_HEADERS, reviewText } from "./pod-review.ts";
import { createServerUnderTest } from "./server-under-test.ts";

function webhookOf({ request, config, facts, token }: GoldenCase) {
  return createServerUnderTest({
    rules: { optIn: request.optIn, config, facts },
    namespaceAnnotations: async () => request.namespaceAnnotations,
    inject: (received, ...rest) => injectPod(received, rest[0], rest[1], { newToken: () => token }),
  });
}

test.for(listGoldenNames())("the webhook's patch for the golden case %s results in the golden Pod", async (name) => {
  const golden = readGoldenCase(name);
  const expected = injectPod(golden.request, golden.config, golden.facts, { newToken: () => golden.token });
  const pod = JSON.parse(JSON.stringify(golden.request.pod));
  const payload = reviewText({ object: pod, namespace: golden.request.namespace });
  const server = webhookOf(golden);
  const reply = await server.app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
  expect(reply.statusCode).toBe(200);
  const { response } = reply.json();
  expect(response.allowed).toBe(expected.kind !== "refused");
  const operations = JSON.parse(Buffer.from(response.patch ?? btoa("[]"), "base64").toString());
  const patchedPod = jsonPatch.applyPatch(pod, operations, true).newDocument;
  expect(patchedPod).toEqual(expectedPodOf(golden));
  const [line] = server.lines();
  expect(line).toMatchObject({
    outcome: { patched: "injected", unchanged: "skipped", refused: "refused" }[expected.kind],
    reason: expected.kind === "unchanged" ? expected.reason : "none",
    mode: expected.kind === "patched" ? expected.mode : "none",
    problems: expected.explanation.problems.map((problem) => problem.code),
  });
});

const injectedNames = listGoldenNames().filter((name) => {
  const { request, config, facts, token } = readGoldenCase(name);
  return injectPod(request, config, facts, { newToken: () => token }).kind === "patched";
});

describe("a second review of the same injected Pod", () => {
  test.for(injectedNames)("does not change %s", async (name) => {
    const golden = readGoldenCase(name);
    const first = injectPod(golden.request, golden.config, golden.facts, { newToken: () => golden.token });
    const payload = reviewText({
      object: first.kind === "patched" ? first.pod : null,
      namespace: golden.request.namespace,
    });
    const reply = await webhookOf(golden).app.inject({
      method: "POST",
      url: "/mutate",
      headers: JSON_HEADERS,
      payload,
    });
    expect(reply.json().response).not.toHaveProperty("patch");
  });
});
