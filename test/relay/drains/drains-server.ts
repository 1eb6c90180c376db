/** Serves the drains route, and records its Events, log lines and metrics for the test. */
import type { SecureContext } from "node:tls";
import { Registry } from "prom-client";
import type { EventSpec } from "../../../src/api-server/event-object.ts";
import type { CredentialClaims } from "../../../src/contract/relay-wire.ts";
import { createDrainRing } from "../../../src/relay/drains/drain-ring.ts";
import { addDrainsRoute, type DrainsPorts } from "../../../src/relay/drains/drains-route.ts";
import { createGracefulWorkloads } from "../../../src/relay/drains/graceful-workloads.ts";
import { drainMetrics } from "../../../src/relay/metrics.ts";
import { createRelayLimits } from "../../../src/relay/server/relay-limits.ts";
import { createRelayServer } from "../../../src/relay/server/relay-server.ts";

export const CLAIMS: CredentialClaims = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-7d9f",
  ownerUid: "owner-1",
  nonce: "n",
};

export const AUTHORIZATION = "Lastcall good";

export function createDrainsServer(changes: Partial<DrainsPorts> = {}, context?: SecureContext) {
  const registry = new Registry();
  const ring = createDrainRing(500, () => 0);
  const workloads = createGracefulWorkloads();
  const recordedEvents: EventSpec[] = [];
  const loggedSentences: string[] = [];
  const clock = { wallMs: 1_795_000_000_000 };
  let idCount = 0;
  const log = (_keys: object, sentence: string) => loggedSentences.push(sentence);
  const app = createRelayServer({ error: log }, () => context);
  // Adds a parser and a route that uses this parser. The drains route must not replace the parser.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (_request, payload, done) => {
    payload.resume();
    payload.on("end", () => done(null, { kind: "admission" }));
  });
  app.post("/mutate", (request, reply) => reply.send(request.body));
  addDrainsRoute(app, {
    checkCredential: (header) => (header === AUTHORIZATION ? CLAIMS : undefined),
    limits: createRelayLimits(),
    ring,
    workloads,
    ...drainMetrics(registry),
    recordEvent: (event) => recordedEvents.push(event),
    onReport: () => undefined,
    nowMs: () => 0,
    wallMs: () => clock.wallMs,
    newId: () => {
      idCount += 1;
      return `id-${idCount}`;
    },
    registry,
    log: { info: log },
    ...changes,
  });
  const readMetric = async (line: string): Promise<string | undefined> =>
    (await registry.metrics()).split("\n").find((metricLine) => metricLine.startsWith(`${line} `));
  return { app, ring, workloads, recordedEvents, loggedSentences, clock, readMetric, registry };
}
