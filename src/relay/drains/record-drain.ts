/** Adds a drain to the ring, and counts it, logs it and writes its Event, once for each drain. */

import { isOwner, NOTE_LIMIT, type Note } from "../../api-server/event-note.ts";
import type { SendNote } from "../../api-server/event-sender.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { CredentialClaims, RelayedPod } from "../../contract/relay-wire.ts";
import type { DrainRecord, RecordedOutcome, RecordedReport } from "../../drain-history/drain-record.ts";
import { drainSentence } from "../../drain-history/drain-sentence.ts";
import type { DrainRing } from "./drain-ring.ts";

export type RecordPorts = {
  readonly ring: DrainRing;
  readonly countDrain: (record: DrainRecord) => void;
  /** Writes an Event on an owner; never throws and never waits. */
  readonly tell: SendNote;
  /** For a drain: unique among replicas; letters, digits and dashes, at most 64. */
  readonly newId: () => string;
  readonly log: { readonly info: (keys: object, sentence: string) => void };
};

type EndedDrain = {
  readonly pod: RelayedPod;
  readonly claims: CredentialClaims;
  /** Wall clock, milliseconds. */
  readonly endedAtMs: number;
  readonly report: RecordedReport;
};

/** In characters; no name in the API is longer. */
const OWNER_LIMIT = 253;

export function recordDrain(
  { pod: { namespace, pod, uid }, claims, endedAtMs, report }: EndedDrain,
  ports: RecordPorts,
): void {
  // The API server had not checked the owner yet when the credential was made.
  const ownerKind = plainText(claims.ownerKind, OWNER_LIMIT);
  const ownerName = plainText(claims.ownerName, OWNER_LIMIT);
  const record: DrainRecord = { id: ports.newId(), namespace, pod, uid, ownerKind, ownerName, endedAtMs, report };
  if (ports.ring.add(record) === "told-again") return;
  ports.countDrain(record);
  const { outcome, trigger, milliseconds, leftTotal, relay, why } = report;
  ports.log.info(
    { id: record.id, namespace, pod, outcome, trigger, milliseconds, leftTotal, relay, why },
    outcome === "lost" ? "drain lost" : "drain reported",
  );
  const note = noteOn(record, claims);
  if (note !== undefined) ports.tell(note);
}

/** What the owner of a drained Pod hears of it. Pure. */
type Telling = Pick<Note, "type" | "reason">;

/** Where nothing was drained there is nothing to tell. */
export const DRAIN_EVENTS = {
  drained: { type: "Normal", reason: "Drained" },
  blind: { type: "Warning", reason: "DrainBlind" },
  timeout: { type: "Warning", reason: "DrainTimeout" },
  forced: { type: "Warning", reason: "DrainForced" },
  lost: { type: "Warning", reason: "DrainLost" },
} as const satisfies Partial<Record<RecordedOutcome, Telling>>;

/** A credential says no version of the API; an Event about another kind does without. */
const API_VERSIONS: ReadonlyMap<string, string> = new Map([
  ["ReplicaSet", "apps/v1"],
  ["StatefulSet", "apps/v1"],
  ["DaemonSet", "apps/v1"],
  ["Deployment", "apps/v1"],
  ["Job", "batch/v1"],
  ["ReplicationController", "v1"],
]);

/** The owner comes from the credential, which this server signed, and never from the report. */
export function noteOn(record: DrainRecord, claims: CredentialClaims): Note | undefined {
  const tellings: Readonly<Partial<Record<RecordedOutcome, Telling>>> = DRAIN_EVENTS;
  const telling = tellings[record.report.outcome];
  const owner = {
    apiVersion: API_VERSIONS.get(claims.ownerKind) ?? "",
    kind: claims.ownerKind,
    name: claims.ownerName,
    uid: claims.ownerUid,
  };
  if (telling === undefined || !isOwner(owner)) return undefined;
  return { namespace: claims.namespace, owner, ...telling, message: plainText(drainSentence(record), NOTE_LIMIT) };
}
