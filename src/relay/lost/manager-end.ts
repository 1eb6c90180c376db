/** Reads how the manager of a Pod ended out of an API server's answer about that Pod. Pure. */
import type { ApiAnswer } from "../../api-server/api-request.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { type PodAnswer, readPodObject } from "../pod-answer.ts";

export type ManagerEnd = {
  readonly exitCode: number;
  /** The kubelet's word, such as `OOMKilled`; empty where there is none. */
  readonly reason: string;
  /** By the node's clock, in whole seconds. */
  readonly endedAtMs: number;
};

export type EndReading =
  | { readonly kind: "ended"; readonly end: ManagerEnd }
  /** The status shows no end yet: a kubelet writes it when the last container has stopped. */
  | { readonly kind: "open" }
  | Exclude<PodAnswer, { readonly kind: "pod" }>;

/** As a sidecar the manager is an init container, in classic mode one of the containers. */
const STATUS_LISTS = ["initContainerStatuses", "containerStatuses"] as const;

export function readManagerEnd(answer: ApiAnswer, uid: string): EndReading {
  const read = readPodObject(answer, uid);
  if (read.kind !== "pod") return read;
  if (!read.isDeleted) return { kind: "open" };
  const status = objectAt(read.pod, "status");
  const manager = STATUS_LISTS.flatMap((list) => objectsAt(status, list)).find(
    (container) => textAt(container, "name") === MANAGER_CONTAINER,
  );
  // Not lastState: a manager that was started again has a drain of its own, and reports it.
  const terminated = objectAt(objectAt(manager, "state"), "terminated");
  return terminated === undefined ? { kind: "open" } : endOf(terminated);
}

function endOf(terminated: RawObject): EndReading {
  const exitCode = wholeNumberAt(terminated, "exitCode");
  const endedAtMs = Date.parse(textAt(terminated, "finishedAt") ?? "");
  if (exitCode === undefined || Number.isNaN(endedAtMs)) return { kind: "unreadable" };
  return { kind: "ended", end: { exitCode, reason: textAt(terminated, "reason") ?? "", endedAtMs } };
}
