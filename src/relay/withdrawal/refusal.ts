/** Every way in which a request of a Pod is refused: what is counted, the status, and the sentence. Pure. */
import { RELAY_BODY_LIMIT_BYTES } from "../../contract/relay-wire.ts";

export const REFUSALS = {
  credential: { status: 401, message: "The authorization header holds no credential that is valid here." },
  requests: { status: 429, message: "Pods of this namespace ask too often." },
  pod_streams: { status: 429, message: "This Pod has too many open questions." },
  namespace_streams: { status: 429, message: "Pods of this namespace have too many open questions." },
  content_type: { status: 415, message: "The content type is not application/json." },
  too_large: { status: 413, message: `The body is larger than ${RELAY_BODY_LIMIT_BYTES} bytes.` },
  malformed: { status: 400, message: "The request is malformed." },
  foreign_namespace: { status: 403, message: "The credential is for another namespace." },
} as const;

export type RefusalReason = keyof typeof REFUSALS;
