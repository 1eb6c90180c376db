/** What an answer to a question about a Pod says of its end. Pure. */

import type { ApiAnswer } from "../../api-server/api-request.ts";
import { isRawObject, objectAt, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { PodFacts } from "./withdrawal-answer.ts";

export type PodReading =
  /** The Pod is being deleted: nothing more will be learnt. */
  | { readonly kind: "ending"; readonly facts: PodFacts }
  | { readonly kind: "living" }
  /** It is gone, or another Pod has its name now. */
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable" };

const OK = 200;
const NOT_FOUND = 404;

export function readPodAnswer(answer: ApiAnswer, uid: string): PodReading {
  if (answer.status === NOT_FOUND) return { kind: "gone" };
  if (answer.status !== OK) return { kind: "unreadable" };
  let pod: unknown;
  try {
    pod = JSON.parse(answer.text);
  } catch {
    return { kind: "unreadable" };
  }
  const metadata = isRawObject(pod) ? objectAt(pod, "metadata") : undefined;
  if (metadata === undefined) return { kind: "unreadable" };
  if (textAt(metadata, "uid") !== uid) return { kind: "gone" };
  if (textAt(metadata, "deletionTimestamp") === undefined) return { kind: "living" };
  const seconds = wholeNumberAt(metadata, "deletionGracePeriodSeconds");
  return {
    kind: "ending",
    facts: { terminating: true, graceSeconds: seconds === undefined || seconds < 0 ? undefined : seconds },
  };
}
