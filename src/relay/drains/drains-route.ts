/**
 * Records each reported (`POST /v1/drains`) or lost drain once: in the ring, the metrics, the log and an Event. A running drain is
 * only in the ring, with an Event on its Pod.
 */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type EventSpec, isValidOwner, MESSAGE_LIMIT, type Owner } from "../../api-server/event-object.ts";
import type { RecordEvent } from "../../api-server/event-recorder.ts";
import type { ResetsReport } from "../../contract/drain-report.ts";
import { type CredentialClaims, DRAINS_PATH, type RelayedPod } from "../../contract/relay-wire.ts";
import { plainText } from "../../contract/untrusted-text.ts";
import { parseDrainNotice } from "../../drain-history/drain-notice.ts";
import {
  type DrainRecord,
  isRunning,
  type RecordedOutcome,
  type RecordedReport,
} from "../../drain-history/drain-record.ts";
import { drainSentence } from "../../drain-history/drain-sentence.ts";
import { resetsSentence } from "../../drain-history/report-text.ts";
import { addGuardedRoute, type GuardedRequest, type GuardPorts, REFUSALS } from "../server/guard.ts";
import type { DrainRing } from "./drain-ring.ts";
import type { GracefulWorkloads } from "./graceful-workloads.ts";

export type DrainsPorts = RecordPorts &
  GuardPorts & {
    readonly onReport: (pod: RelayedPod) => void;
    readonly wallMs: () => number;
  };

const { malformed, namespace: foreignNamespace } = REFUSALS.drainReportsRefused;

export function addDrainsRoute(app: FastifyInstance<Server>, ports: DrainsPorts): void {
  addGuardedRoute(app, ports, {
    path: DRAINS_PATH,
    contentType: "*",
    metric: "drainReportsRefused",
    handle: (call) => recordReport(call, ports),
  });
}

function recordReport({ body, claims, reply, refuse }: GuardedRequest, ports: DrainsPorts): FastifyReply {
  const json = parseJson(body);
  if (json === undefined) return refuse(malformed);
  const reading = parseDrainNotice(json);
  if (!reading.ok) return refuse(malformed, reading.problem);
  const { namespace, report } = reading.notice;
  const mismatch = `The credential is for namespace ${claims.namespace} and not for ${namespace}.`;
  if (namespace !== claims.namespace) return refuse(foreignNamespace, mismatch);
  if (report.outcome !== "none") ports.onReport(reading.notice);
  recordDrain({ pod: reading.notice, claims, endedAtMs: ports.wallMs() - sinceDrainMs(report), report }, ports);
  return acknowledge(reply);
}

/**
 * The end of the connection ends the response. A manager that waits for this end closes its socket after it has received the
 * close_notify; otherwise the Pod's kernel would reply to the close_notify with a reset.
 */
function acknowledge(reply: FastifyReply): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  raw.useChunkedEncodingByDefault = false;
  raw.writeHead(200, { connection: "close" }).end();
  return reply;
}

/** Time from the end of a drain to its report: the second report is sent when the manager exits, up to a grace period later. */
function sinceDrainMs({ resets, milliseconds }: RecordedReport): number {
  return resets === undefined ? 0 : Math.max(0, resets.stoppingMs - milliseconds.holding);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

type RecordPorts = {
  readonly ring: DrainRing;
  readonly workloads: GracefulWorkloads;
  readonly countDrain: (record: DrainRecord) => void;
  readonly countResets: (resets: ResetsReport) => void;
  readonly recordEvent: RecordEvent;
  readonly newId: () => string;
  readonly log: { readonly info: (keys: object, sentence: string) => void };
};

type DrainToRecord = {
  readonly pod: RelayedPod;
  readonly claims: CredentialClaims;
  readonly endedAtMs: number;
  readonly report: RecordedReport;
};

const OWNER_LIMIT = 253;

export function recordDrain({ pod: relayedPod, claims, endedAtMs, report }: DrainToRecord, ports: RecordPorts): void {
  const { namespace, pod, uid } = relayedPod;
  // Sanitized, because the credential was issued before the API server validated the owner.
  const ownerKind = plainText(claims.ownerKind, OWNER_LIMIT);
  const ownerName = plainText(claims.ownerName, OWNER_LIMIT);
  const record: DrainRecord = { id: ports.newId(), namespace, pod, uid, ownerKind, ownerName, endedAtMs, report };
  const isRepeated = ports.ring.add(record) === "repeated";
  if (isRunning(record)) {
    const event = runningEvent(record);
    if (!isRepeated && event !== undefined) ports.recordEvent(event);
    return;
  }
  if (report.resets !== undefined) recordResets(record, report.resets, claims, ports);
  // The first report of the Pod was counted by this replica or another.
  if (isRepeated || report.resets !== undefined) return;
  ports.countDrain(record);
  const { outcome, trigger, milliseconds, leftTotal, relay, why } = report;
  ports.log.info(
    { id: record.id, namespace, pod, outcome, trigger, milliseconds, leftTotal, relay, why },
    outcome === "lost" ? "drain lost" : "drain reported",
  );
  const event = eventFor(record, claims);
  if (event !== undefined) ports.recordEvent(event);
}

function recordResets(record: DrainRecord, resets: ResetsReport, claims: CredentialClaims, ports: RecordPorts): void {
  const { id, namespace, pod } = record;
  ports.countResets(resets);
  ports.log.info({ id, namespace, pod, resets }, "a manager reported the connections that its Pod reset");
  if (ports.workloads.recordStop(record)) {
    const { ownerKind, ownerName } = record;
    const shutdown = ports.workloads.isGraceful(record) ? "graceful" : "unknown";
    ports.log.info({ namespace, ownerKind, ownerName, shutdown }, "recorded how the workload shuts down");
  }
  if (resets.stopping === 0) return;
  const event = eventOnOwner(claims, { ...RESETS_EVENT, message: resetsSentence(record.pod, resets) });
  if (event !== undefined) ports.recordEvent(event);
}

type EventType = Pick<EventSpec, "type" | "reason">;

/** An Event on the Pod, not on its owner, because it explains why this Pod is still terminating. */
export const RUNNING_EVENT = { type: "Normal", reason: "Draining" } as const satisfies EventType;

export const DRAIN_EVENTS = {
  drained: { type: "Normal", reason: "Drained" },
  "handed-over": { type: "Normal", reason: "DrainHandedOver" },
  blind: { type: "Warning", reason: "DrainBlind" },
  timeout: { type: "Warning", reason: "DrainTimeout" },
  forced: { type: "Warning", reason: "DrainForced" },
  lost: { type: "Warning", reason: "DrainLost" },
} as const satisfies Partial<Record<RecordedOutcome, EventType>>;

/** Not a Warning, because its number of connections is an upper bound that includes probes. */
export const RESETS_EVENT = { type: "Normal", reason: "ConnectionsReset" } as const satisfies EventType;

/** A credential does not contain the apiVersion; Events on kinds that are not listed here have no apiVersion. */
const API_VERSIONS: ReadonlyMap<string, string> = new Map([
  ["ReplicaSet", "apps/v1"],
  ["StatefulSet", "apps/v1"],
  ["DaemonSet", "apps/v1"],
  ["Deployment", "apps/v1"],
  ["Job", "batch/v1"],
  ["ReplicationController", "v1"],
]);

/** The owner comes from the credential, which the webhook signed, and never from the report. */
export function eventFor(record: DrainRecord, claims: CredentialClaims): EventSpec | undefined {
  const events: Readonly<Partial<Record<RecordedOutcome, EventType>>> = DRAIN_EVENTS;
  const eventType = events[record.report.outcome];
  return eventType === undefined ? undefined : eventOnOwner(claims, { ...eventType, message: drainSentence(record) });
}

/** The name and uid come from the report, so a false report can name another Pod of its credential's namespace. */
function runningEvent(record: DrainRecord): EventSpec | undefined {
  const { namespace, pod: name, uid } = record;
  const message = drainSentence(record);
  return eventOn(namespace, { apiVersion: "v1", kind: "Pod", name, uid }, { ...RUNNING_EVENT, message });
}

type EventContent = EventType & { readonly message: string };

function eventOnOwner(
  { namespace, ownerKind: kind, ownerName: name, ownerUid: uid }: CredentialClaims,
  content: EventContent,
): EventSpec | undefined {
  return eventOn(namespace, { apiVersion: API_VERSIONS.get(kind) ?? "", kind, name, uid }, content);
}

function eventOn(namespace: string, owner: Owner, content: EventContent): EventSpec | undefined {
  if (!isValidOwner(owner)) return undefined;
  return { namespace, owner, ...content, message: plainText(content.message, MESSAGE_LIMIT) };
}
