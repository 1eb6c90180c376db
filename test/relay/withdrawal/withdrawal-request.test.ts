import fc from "fast-check";
import { expect, test } from "vitest";
import { readWithdrawalRequest } from "../../../src/relay/withdrawal/withdrawal-request.ts";

const POD = { namespace: "shop", pod: "web-7d9f-x2x4p", uid: "0b5f3c1e-1111-4222-8333-444455556666" };
const COMPLETE_REQUEST = { ...POD, addresses: ["10.0.0.1", "fd00::1"] };

test.for([
  { title: "with an IPv4 and an IPv6 address", request: COMPLETE_REQUEST },
  { title: "with one address", request: { ...COMPLETE_REQUEST, addresses: ["10.0.0.1"] } },
  { title: "without an address", request: { ...COMPLETE_REQUEST, addresses: [] } },
])("a withdrawal request $title is read", ({ request }) => {
  expect(readWithdrawalRequest(JSON.stringify(request))).toEqual({ ok: true, request });
});

test("unknown fields in the withdrawal request of a later manager are ignored", () => {
  const laterRequest = { ...COMPLETE_REQUEST, zone: "eu-1", __proto__: { x: 1 } };
  expect(readWithdrawalRequest(JSON.stringify(laterRequest))).toEqual({ ok: true, request: COMPLETE_REQUEST });
});

test.for([
  { body: "", message: "The body is not JSON" },
  { body: "{", message: "The body is not JSON" },
  { body: "[".repeat(16_000), message: "The body is not JSON" },
  { body: "null", message: "The body is null" },
  { body: "[1]", message: "The body is [1]" },
  { body: "{}", message: "namespace is missing, expected the name of a namespace." },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, namespace: "a/b" }), message: 'namespace is "a/b", expected' },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, namespace: "../kube-system" }), message: "namespace is" },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, namespace: "a".repeat(64) }), message: "namespace is" },
  {
    body: JSON.stringify({ ...COMPLETE_REQUEST, pod: ["web"] }),
    message: 'pod is ["web"], expected the name of a Pod.',
  },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, pod: "web\n" }), message: 'pod is "web\\n"' },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, uid: "" }), message: 'uid is "", expected the uid of a Pod.' },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, uid: 7 }), message: "uid is 7" },
  { body: JSON.stringify(POD), message: "addresses is missing, expected a list" },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, addresses: "10.0.0.1" }), message: 'addresses is "10.0.0.1"' },
  {
    body: JSON.stringify({ ...COMPLETE_REQUEST, addresses: ["10.0.0.1", "fd00::1", "10.0.0.2"] }),
    message: "addresses is [",
  },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, addresses: ["10.0.0.1", "10.0.0.2"] }), message: "addresses[1] is" },
  {
    body: JSON.stringify({ ...COMPLETE_REQUEST, addresses: [null] }),
    message: "addresses[0] is null, expected an IP address.",
  },
  { body: JSON.stringify({ ...COMPLETE_REQUEST, addresses: ["example.com"] }), message: "addresses[0] is" },
])("an invalid withdrawal request is rejected with the message: $message", ({ body, message }) => {
  expect(readWithdrawalRequest(body)).toEqual({ ok: false, message: expect.stringContaining(message) });
});

test("the parser of withdrawal requests never throws, and its messages are short", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
      const request = readWithdrawalRequest(body);
      expect(request.ok || request.message.length < 300).toBe(true);
    }),
  );
});
