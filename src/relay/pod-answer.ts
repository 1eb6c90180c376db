/** Reads one Pod by name, and tells it from another Pod that has its name now. Pure. */
import type { ApiAnswer } from "../api-server/api-request.ts";
import type { RelayedPod } from "../contract/relay-wire.ts";
import { isRawObject, objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

export type PodAnswer =
  | { readonly kind: "pod"; readonly pod: RawObject; readonly metadata: RawObject; readonly isDeleted: boolean }
  /** Deleted, or another Pod has its name now. */
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable" };

const OK = 200;
const NOT_FOUND = 404;

/** From the API server's cache. */
export function podPath({ namespace, pod }: RelayedPod): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}?resourceVersion=0`;
}

export function readPodObject(answer: ApiAnswer, uid: string): PodAnswer {
  if (answer.status === NOT_FOUND) return { kind: "gone" };
  const pod = answer.status === OK ? parsed(answer.text) : undefined;
  const metadata = objectAt(pod, "metadata");
  if (pod === undefined || metadata === undefined) return { kind: "unreadable" };
  if (textAt(metadata, "uid") !== uid) return { kind: "gone" };
  return { kind: "pod", pod, metadata, isDeleted: textAt(metadata, "deletionTimestamp") !== undefined };
}

function parsed(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
