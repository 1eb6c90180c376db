/** `POST /v1/drains`: records a manager's report of its drain. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply } from "fastify";
import { DRAINS_PATH, type RelayedPod } from "../../contract/relay-wire.ts";
import { readNotice } from "../../drain-history/read-notice.ts";
import { addGuardedRoute, type Call, type GuardPorts, REFUSALS } from "../server/guard.ts";
import { type RecordPorts, recordDrain } from "./record-drain.ts";

export type DrainsPorts = RecordPorts &
  GuardPorts & {
    /** Before the report is recorded. */
    readonly onReport: (pod: RelayedPod) => void;
    /** Wall clock, milliseconds. */
    readonly wallMs: () => number;
  };

const { malformed, namespace: foreignNamespace } = REFUSALS.drainReportsRefused;

export function addDrainsRoute(app: FastifyInstance<Server>, ports: DrainsPorts): void {
  addGuardedRoute(app, ports, {
    path: DRAINS_PATH,
    contentType: "*",
    metric: "drainReportsRefused",
    answer: (call) => recordReport(call, ports),
  });
}

function recordReport({ body, claims, reply, refuse }: Call, ports: DrainsPorts): FastifyReply {
  const json = parsed(body);
  // JSON has no such value.
  if (json === undefined) return refuse(malformed);
  const reading = readNotice(json);
  if (!reading.ok) return refuse(malformed, reading.problem);
  const { namespace, report } = reading.notice;
  if (namespace !== claims.namespace)
    return refuse(
      foreignNamespace,
      `The credential speaks for namespace ${claims.namespace} and not for ${namespace}.`,
    );
  ports.onReport(reading.notice);
  recordDrain({ pod: reading.notice, claims, endedAtMs: ports.wallMs(), report }, ports);
  return reply.code(204).send();
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
