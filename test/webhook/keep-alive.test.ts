/** Reviews on one kept-alive connection, as API servers send them: the next follows as soon as the last is answered. */
import { afterEach, expect, test } from "vitest";
import { reviewText } from "./pod-review.ts";
import { keepAliveAgent, sendRequest, startWebhook } from "./running-webhook.ts";

const LIMIT = { timeout: 240_000 };
/** Before the fix one in ten such reviews was cut off. */
const ROUNDS = 100;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The largest Pod that the API server accepts, changed in each of its containers. */
function largestReview(): string {
  const probe = { httpGet: { port: 80 } };
  const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
  const containers = Array.from({ length: 1_000 }, (_, at) => ({
    name: `c${at}`,
    image: "x".repeat(2_800),
    ...probes,
  }));
  return reviewText({ object: { metadata: { name: "web-0" }, spec: { containers } } });
}

test("a large review on a kept-alive connection directly after a large response gets a response", LIMIT, async () => {
  const webhook = await startWebhook(["--opt-in=all"]);
  cleanups.push(webhook.destroy);
  const agent = keepAliveAgent(1);
  cleanups.push(() => agent.destroy());
  const body = largestReview();
  for (let round = 0; round < ROUNDS; round += 1) {
    const reply = await sendRequest(webhook, { path: "/mutate", body, agent });
    expect(reply.status).toBe(200);
    expect(reply.body.length).toBeGreaterThan(200_000);
  }
});
