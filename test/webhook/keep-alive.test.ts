/** Sends reviews on one keep-alive connection as an API server does: each follows immediately on the previous response. */
import { afterEach, expect, test } from "vitest";
import { reviewText } from "./pod-review.ts";
import { createKeepAliveAgent, sendRequest, startWebhook } from "./running-webhook.ts";

const TIMEOUT = { timeout: 240_000 };
/** Enough to detect an error: without `keepNextRequest` of `send-review.ts`, about one review in ten fails with a connection error. */
const ROUNDS = 100;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Creates the review of a Pod near the API server's size limit; injection changes each of its containers. */
function createLargestReview(): string {
  const probe = { httpGet: { port: 80 } };
  const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
  const containers = Array.from({ length: 1_000 }, (_, at) => ({
    name: `c${at}`,
    image: "x".repeat(2_800),
    ...probes,
  }));
  return reviewText({ object: { metadata: { name: "web-0" }, spec: { containers } } });
}

test(
  "a large review on a keep-alive connection, immediately after a large response, gets a response",
  TIMEOUT,
  async () => {
    const webhook = await startWebhook(["--opt-in=all"]);
    cleanups.push(webhook.destroy);
    const agent = createKeepAliveAgent(1);
    cleanups.push(() => agent.destroy());
    const body = createLargestReview();
    for (let round = 0; round < ROUNDS; round += 1) {
      const reply = await sendRequest(webhook, { path: "/mutate", body, agent });
      expect(reply.status).toBe(200);
      expect(reply.body.length).toBeGreaterThan(200_000);
    }
  },
);
