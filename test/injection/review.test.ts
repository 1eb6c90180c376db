import { expect, test } from "vitest";
import { reviewText, toReview, warningsOf } from "../../src/injection/review.ts";
import { inject } from "./injector-inputs.ts";

const POD = { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "значение" }] } };

test("the response for an injected Pod has the patch as base64 of UTF-8", () => {
  const outcome = inject({
    ...POD,
    metadata: { annotations: { "traffic.sidecar.istio.io/excludeInboundPorts": "ü" } },
  });
  const { response, ...review } = toReview("uid-1", outcome);
  expect(review).toEqual({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  expect(response).toMatchObject({ uid: "uid-1", allowed: true, patchType: "JSONPatch" });
  expect(response.warnings).toBeUndefined();
  const patch: unknown = JSON.parse(Buffer.from(response.patch ?? "", "base64").toString("utf8"));
  expect(outcome).toMatchObject({ patch });
});

test("the response for an unchanged Pod allows the Pod, without a patch or a patch type", () => {
  const { response } = toReview("uid-1", inject(POD, { request: { optIn: "label" } }));
  expect(response).toEqual({ uid: "uid-1", allowed: true });
});

test("the response for a refused Pod has code 422 and every problem in one message", () => {
  const pod = { ...POD, metadata: { annotations: { "lastcall.dev/drain-delay": "5", "lastcall.dev/port": "80" } } };
  const { response } = toReview("uid-1", inject(pod, { config: { onInvalid: "deny" } }));
  expect(response).toMatchObject({ uid: "uid-1", allowed: false, status: { code: 422 } });
  expect(response.status?.message).toContain("drain-delay");
  expect(response.status?.message).toContain("lastcall.dev/port");
  expect(response.patch).toBeUndefined();
  expect(response.patchType).toBeUndefined();
});

test("the warning for each problem is one printable line with at most 256 characters", () => {
  const name = `web\n\u001b[31m${"x".repeat(300)}`;
  const annotations = { "lastcall.dev/drain-delay": "\u0007".repeat(10_000), "lastcall.dev/drain-timout": "1s" };
  const warnings = warningsOf(inject({ ...POD, metadata: { name, annotations } }));
  expect(warnings.length).toBe(2);
  for (const warning of warnings) expect(warning).toMatch(/^[\x20-\x7e]{1,256}$/);
});

test("a Pod gets a warning if it is skipped for an unexpected reason, but not for an expected reason", () => {
  const podWithoutGracePeriod = { ...POD, spec: { ...POD.spec, terminationGracePeriodSeconds: 0 } };
  expect(warningsOf(inject(podWithoutGracePeriod)).join()).toContain("the kubelet kills the Pod immediately");
  const job = { ...POD, spec: { ...POD.spec, restartPolicy: "Never" } };
  expect(warningsOf(inject(job))).toEqual([]);
});

test("the response as text equals the response as object, with and without a patch", () => {
  const warnedOutcome = inject({ ...POD, metadata: { annotations: { "lastcall.dev/port": '"patch":""' } } });
  for (const outcome of [inject(POD), inject(POD, { request: { optIn: "label" } }), warnedOutcome])
    expect(JSON.parse(reviewText('odd "uid" }}', outcome))).toEqual(toReview('odd "uid" }}', outcome));
});
