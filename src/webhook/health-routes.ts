/** What probes and Prometheus ask. */

import type { Server } from "node:https";
import type { FastifyInstance } from "fastify";
import type { Meters } from "./metrics.ts";

/** Why this replica should get no requests; empty when it should. */
export type Unreadiness = () => string;

export function addHealthRoutes(app: FastifyInstance<Server>, meters: Meters, unreadiness: Unreadiness): void {
  // Trivial on purpose: a restart helps only when the process no longer answers.
  app.get("/healthz", (_request, reply) => {
    reply.header("content-type", TEXT).send("ok\n");
  });
  app.get("/readyz", (_request, reply) => {
    const why = unreadiness();
    reply.code(why === "" ? 200 : 503);
    reply.header("content-type", TEXT).send(why === "" ? "ok\n" : `Not ready: ${why}.\n`);
  });
  app.get("/metrics", async (_request, reply) => {
    const text = await meters.render();
    return reply.header("content-type", meters.contentType).send(text);
  });
}

const TEXT = "text/plain; charset=utf-8";
