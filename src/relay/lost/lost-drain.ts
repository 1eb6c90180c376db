/** Decides whether a drain was lost, and reports it as far as a relay can. Pure. */

import type { ApiAnswer } from "../../api-server/api-request.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { CredentialClaims, RelayedPod, WithdrawalState } from "../../contract/relay-wire.ts";
import type { RecordedReport } from "../../drain-history/drain-record.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { type PodAnswer, readPodObject } from "../slices/pod-reader.ts";

/** Reads how the manager of a Pod ended out of an API server's answer about that Pod. Pure. */
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

/** A drain whose manager closed its stream. Times are the wall clock of this replica, in milliseconds. */
export type BrokenDrain = {
  readonly pod: RelayedPod;
  readonly claims: CredentialClaims;
  readonly openedAtMs: number;
  readonly brokeAtMs: number;
  /** Of the last line. */
  readonly state: WithdrawalState;
  /** 0 where the relay did not read it. */
  readonly graceSeconds: number;
};

/** Exit codes above it are signals. A manager that ends by itself, also one that was cut, has a smaller one. */
const LAST_OWN_EXIT_CODE = 128;

/**
 * How far the end by the node's clock may be from the end of the stream by ours. A manager closes its stream when the
 * wait for the withdrawal is over, so one that was killed later may have reported its drain, to any replica.
 */
const EARLIEST_MS = -3_000;
const LATEST_MS = 1_000;

export function isLost({ brokeAtMs }: BrokenDrain, end: ManagerEnd): boolean {
  const afterMs = end.endedAtMs - brokeAtMs;
  return end.exitCode > LAST_OWN_EXIT_CODE && afterMs >= EARLIEST_MS && afterMs <= LATEST_MS;
}

const RELAY_STATES: Readonly<Record<WithdrawalState, string>> = {
  in: "offered",
  out: "withdrawn",
  unknown: "unknown: the slices could not be read",
};

/** In characters. */
const REASON_LIMIT = 60;

export function lostReport(drain: BrokenDrain, { exitCode, reason }: ManagerEnd): RecordedReport {
  const withdrawing = Math.max(0, Math.round(drain.brokeAtMs - drain.openedAtMs));
  const cause = reason === "" ? "" : ` (${plainText(reason, REASON_LIMIT)})`;
  return {
    version: 1,
    phase: "withdrawing",
    outcome: "lost",
    trigger: "none",
    milliseconds: { withdrawing, deregistration: 0, draining: 0, holding: 0 },
    left: [],
    leftTotal: 0,
    witness: "none",
    why: `Container lastcall ended with exit code ${exitCode}${cause} while it waited for the withdrawal. The containers got their stop signal at once, and requests may have failed. ${remedyFor(reason)}`,
    relay: RELAY_STATES[drain.state],
  };
}

function remedyFor(reason: string): string {
  return reason === "OOMKilled"
    ? "Raise the memory limit of the container."
    : "See the log of the node for the cause of its death.";
}
