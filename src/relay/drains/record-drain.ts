/** Adds a drain to the ring, and counts it, logs it and writes its Event, once for each drain. */
import type { SendNote } from "../../api-server/event-sender.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { CredentialClaims, RelayedPod } from "../../contract/relay-wire.ts";
import type { DrainRecord, RecordedReport } from "../../drain-history/drain-record.ts";
import { noteOn } from "./drain-note.ts";
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
