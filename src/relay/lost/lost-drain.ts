/** Decides whether a drain was lost, and reports it as far as a relay can. Pure. */
import { plainText } from "../../contract/plain-text.ts";
import type { CredentialClaims, RelayedPod, WithdrawalState } from "../../contract/relay-wire.ts";
import type { RecordedReport } from "../../drain-history/drain-record.ts";
import type { ManagerEnd } from "./manager-end.ts";

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
