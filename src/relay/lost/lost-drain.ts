/** Decides from a Pod's status whether its drain was lost, and builds the report of a lost drain. Pure. */
import type { ApiResponse } from "../../api-server/api-request.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import type { CredentialClaims, RelayedPod, WithdrawalState } from "../../contract/relay-wire.ts";
import { plainText } from "../../contract/untrusted-text.ts";
import type { RecordedReport } from "../../drain-history/drain-record.ts";
import { objectAt, objectsAt, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { readPodObject, type UnavailablePod } from "../slices/pod-reader.ts";

export type ManagerEnd = {
  readonly exitCode: number;
  readonly reason: string;
  readonly endedAtMs: number;
};

/** `open`: the Pod's status does not show the manager's exit yet; the kubelet reports it after the last container has stopped. */
type EndReading = { readonly kind: "ended"; readonly end: ManagerEnd } | { readonly kind: "open" } | UnavailablePod;

/** A native sidecar is an init container; in classic mode the manager is one of the containers. */
const STATUS_LISTS = ["initContainerStatuses", "containerStatuses"] as const;

export function readManagerEnd(response: ApiResponse, uid: string): EndReading {
  const podReading = readPodObject(response, uid);
  if (podReading.kind !== "pod") return podReading;
  if (!podReading.isTerminating) return { kind: "open" };
  const status = objectAt(podReading.pod, "status");
  const manager = STATUS_LISTS.flatMap((list) => objectsAt(status, list)).find(
    (container) => textAt(container, "name") === MANAGER_CONTAINER,
  );
  // `lastState` is not read, because a restarted manager has its own drain and reports it.
  const terminated = objectAt(objectAt(manager, "state"), "terminated");
  if (terminated === undefined) return { kind: "open" };
  const exitCode = wholeNumberAt(terminated, "exitCode");
  const endedAtMs = Date.parse(textAt(terminated, "finishedAt") ?? "");
  if (exitCode === undefined || Number.isNaN(endedAtMs)) return { kind: "unreadable" };
  return { kind: "ended", end: { exitCode, reason: textAt(terminated, "reason") ?? "", endedAtMs } };
}

/** A drain whose manager closed its stream. Times are the wall clock of this replica, in milliseconds. */
export type BrokenDrain = {
  readonly pod: RelayedPod;
  readonly claims: CredentialClaims;
  readonly openedAtMs: number;
  readonly brokeAtMs: number;
  readonly state: WithdrawalState;
  readonly graceSeconds: number;
};

/** A greater exit code means that a signal killed the process. */
const MAX_EXIT_CODE_WITHOUT_SIGNAL = 128;

/**
 * Limits of the time from the end of the stream (relay's clock) to the end of the manager (node's clock). A manager
 * closes its stream after the withdrawal, so a manager that was killed later may have sent its report, to any replica.
 */
const EARLIEST_END_MS = -3_000;
const LATEST_END_MS = 1_000;

export function isLost({ brokeAtMs }: BrokenDrain, end: ManagerEnd): boolean {
  const afterMs = end.endedAtMs - brokeAtMs;
  return end.exitCode > MAX_EXIT_CODE_WITHOUT_SIGNAL && afterMs >= EARLIEST_END_MS && afterMs <= LATEST_END_MS;
}

const RELAY_STATES: Readonly<Record<WithdrawalState, string>> = {
  in: "offered",
  out: "withdrawn",
  unknown: "unknown: EndpointSlices could not be read",
};

const REASON_LIMIT = 60;

export function lostReport(drain: BrokenDrain, { exitCode, reason }: ManagerEnd): RecordedReport {
  const withdrawing = Math.max(0, Math.round(drain.brokeAtMs - drain.openedAtMs));
  const cause = reason === "" ? "" : ` (${plainText(reason, REASON_LIMIT)})`;
  const remedy =
    reason === "OOMKilled"
      ? "Raise the memory limit of container lastcall (lastcall.dev/resources)."
      : "See the kubelet's log for the cause.";
  return {
    version: 1,
    phase: "withdrawing",
    outcome: "lost",
    trigger: "none",
    milliseconds: { withdrawing, deregistration: 0, draining: 0, holding: 0 },
    left: [],
    leftTotal: 0,
    evidenceSource: "none",
    why: `Container lastcall ended with exit code ${exitCode}${cause} while it waited for the withdrawal. The Pod's other containers got their stop signal immediately, and requests may have failed. ${remedy}`,
    relay: RELAY_STATES[drain.state],
  };
}
