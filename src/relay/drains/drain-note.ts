/** What the owner of a drained Pod hears of it. Pure. */
import { isOwner, NOTE_LIMIT, type Note } from "../../api-server/event-object.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { CredentialClaims } from "../../contract/relay-wire.ts";
import type { DrainRecord, RecordedOutcome } from "../../drain-history/drain-record.ts";
import { drainSentence } from "../../drain-history/drain-sentence.ts";

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
