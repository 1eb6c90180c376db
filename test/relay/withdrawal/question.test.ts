import fc from "fast-check";
import { expect, test } from "vitest";
import { readQuestion } from "../../../src/relay/withdrawal/question.ts";

const QUESTION = { namespace: "shop", pod: "web-7d9f-x2x4p", uid: "0b5f3c1e-1111-4222-8333-444455556666" };
const WHOLE = { ...QUESTION, addresses: ["10.0.0.1", "fd00::1"] };

test.for([
  { says: "both families", question: WHOLE },
  { says: "one address", question: { ...WHOLE, addresses: ["10.0.0.1"] } },
  { says: "no address", question: { ...WHOLE, addresses: [] } },
])("a question with $says is read as it is", ({ question }) => {
  expect(readQuestion(JSON.stringify(question))).toEqual({ ok: true, question });
});

test("what a later manager says besides is passed over", () => {
  const later = { ...WHOLE, zone: "eu-1", __proto__: { x: 1 } };
  expect(readQuestion(JSON.stringify(later))).toEqual({ ok: true, question: WHOLE });
});

test.for([
  { body: "", message: "The body is not JSON" },
  { body: "{", message: "The body is not JSON" },
  { body: "[".repeat(16_000), message: "The body is not JSON" },
  { body: "null", message: "The body is null" },
  { body: "[1]", message: "The body is [1]" },
  { body: "{}", message: "namespace is missing; it must be the name of a namespace." },
  { body: JSON.stringify({ ...WHOLE, namespace: "a/b" }), message: 'namespace is "a/b"; it must be' },
  { body: JSON.stringify({ ...WHOLE, namespace: "../kube-system" }), message: "namespace is" },
  { body: JSON.stringify({ ...WHOLE, namespace: "a".repeat(64) }), message: "namespace is" },
  { body: JSON.stringify({ ...WHOLE, pod: ["web"] }), message: 'pod is ["web"]; it must be the name of a Pod.' },
  { body: JSON.stringify({ ...WHOLE, pod: "web\n" }), message: 'pod is "web\\n"' },
  { body: JSON.stringify({ ...WHOLE, uid: "" }), message: 'uid is ""; it must be the uid of a Pod.' },
  { body: JSON.stringify({ ...WHOLE, uid: 7 }), message: "uid is 7" },
  { body: JSON.stringify(QUESTION), message: "addresses is missing; it must be a list" },
  { body: JSON.stringify({ ...WHOLE, addresses: "10.0.0.1" }), message: 'addresses is "10.0.0.1"' },
  { body: JSON.stringify({ ...WHOLE, addresses: ["10.0.0.1", "fd00::1", "10.0.0.2"] }), message: "addresses is [" },
  { body: JSON.stringify({ ...WHOLE, addresses: ["10.0.0.1", "10.0.0.2"] }), message: "addresses[1] is" },
  { body: JSON.stringify({ ...WHOLE, addresses: [null] }), message: "addresses[0] is null; it must be an IP address." },
  { body: JSON.stringify({ ...WHOLE, addresses: ["example.com"] }), message: "addresses[0] is" },
])("$body is refused with its place", ({ body, message }) => {
  expect(readQuestion(body)).toEqual({ ok: false, message: expect.stringContaining(message) });
});

test("no body at all makes it throw, and no answer is long", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
      const read = readQuestion(body);
      expect(read.ok || read.message.length < 300).toBe(true);
    }),
  );
});
