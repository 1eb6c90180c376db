/** Tests the error and not-found responses of the relay's HTTP server. */
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { NO_LOST_DRAINS } from "../../../src/relay/lost/lost-drains.ts";
import { createRelayLimits } from "../../../src/relay/server/relay-limits.ts";
import { createRelayServer } from "../../../src/relay/server/relay-server.ts";
import { addWithdrawalRoute } from "../../../src/relay/withdrawal/withdrawal-route.ts";

function createApp(checkCredential: () => undefined) {
  const loggedSentences: string[] = [];
  const app = createRelayServer(
    { error: (keys, sentence) => loggedSentences.push(`${sentence} ${Object.keys(keys)}`) },
    () => undefined,
  );
  const clock = { nowMs: () => 0, sleep: async () => undefined, every: () => () => undefined };
  const watchPod = () => () => undefined;
  addWithdrawalRoute(app, {
    checkCredential,
    watchPod,
    lostDrains: NO_LOST_DRAINS,
    isGraceful: () => false,
    limits: createRelayLimits(),
    clock,
    wallMs: () => 0,
    registry: new Registry(),
  });
  return { app, loggedSentences };
}

const REQUEST = { method: "POST", url: "/v1/withdrawal", payload: "{}" } as const;

test("an internal error of the relay is logged, and not sent to the client", async () => {
  const { app, loggedSentences } = createApp(() => {
    throw new Error("the keys are gone");
  });
  const response = await app.inject(REQUEST);
  expect([response.statusCode, response.body]).toEqual([500, "Internal error; see the log of the relay.\n"]);
  expect(loggedSentences).toEqual(["a request to the relay failed err,path"]);
});

test("the relay does not log rejected requests, unknown paths and malformed requests", async () => {
  const { app, loggedSentences } = createApp(() => undefined);
  const statuses = [];
  for (const request of [REQUEST, { ...REQUEST, url: "/" }, { ...REQUEST, url: "/%" }]) {
    statuses.push((await app.inject(request)).statusCode);
  }
  expect([statuses, loggedSentences]).toEqual([[401, 404, 400], []]);
});
