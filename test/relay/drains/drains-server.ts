/** The route on a server of its own, with everything it does to the outside kept for the test. */
import type { Server } from "node:https";
import Fastify, { type FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import type { Note } from "../../../src/api-server/event-object.ts";
import type { CredentialClaims } from "../../../src/contract/relay-wire.ts";
import { drainMeters } from "../../../src/relay/drains/drain-metrics.ts";
import { createDrainRing } from "../../../src/relay/drains/drain-ring.ts";
import { addDrainsRoute, type DrainsPorts } from "../../../src/relay/drains/route.ts";
import { createRelayLimits } from "../../../src/relay/limits/relay-limits.ts";

export const CLAIMS: CredentialClaims = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-7d9f",
  ownerUid: "owner-1",
  nonce: "n",
};

/** The only credential, and the header that carries it. */
export const AUTHORIZATION = "Lastcall good";

export function drainsServer(changes: Partial<DrainsPorts> = {}, https: { cert?: string; key?: string } = {}) {
  const registry = new Registry();
  const ring = createDrainRing(500);
  const notes: Note[] = [];
  const logged: string[] = [];
  const clock = { wallMs: 1_795_000_000_000 };
  let made = 0;
  const app: FastifyInstance<Server> = Fastify({ https, bodyLimit: 7 * 1024 * 1024 });
  // The admissions' own parser, as it stands beside the route in the program.
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
    meters: drainMeters(registry),
    tell: (note) => notes.push(note),
    onReport: () => undefined,
    nowMs: () => 0,
    wallMs: () => clock.wallMs,
    newId: () => {
      made += 1;
      return `id-${made}`;
    },
    log: {
      info: (_keys, sentence) => logged.push(sentence),
      error: (_keys, sentence) => logged.push(sentence),
    },
    ...changes,
  });
  const metric = async (line: string): Promise<string | undefined> =>
    (await registry.metrics()).split("\n").find((one) => one.startsWith(`${line} `));
  return { app, ring, notes, logged, clock, metric, registry };
}
