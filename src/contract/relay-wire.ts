/** What the manager and the relay say to each other: HTTP/1.1 with JSON, over TLS with a pinned CA. */
import type { DrainReport } from "./drain-report.ts";

/**
 * POST; the answer streams one {@link WithdrawalLine} per change, the first at once, until the caller leaves. It goes on
 * after `out`: readiness that comes back, or an entry that moves, can bring the Pod in again. The relay ends it when its
 * program stops, and after {@link RELAY_STREAM_LIMIT_MS}; a caller that still wants to know asks again.
 */
export const WITHDRAWAL_PATH = "/v1/withdrawal";
/** POST of a {@link DrainNotice}; answered 204 without a body. */
export const DRAINS_PATH = "/v1/drains";

/** The scheme of the `authorization` header; a credential follows. */
export const CREDENTIAL_SCHEME = "Lastcall";

/** Larger bodies are refused with 413. A report with 20 connections takes about 3 KiB. */
export const RELAY_BODY_LIMIT_BYTES = 16 * 1024;
/** No line of a streamed answer is longer; a client gives up on one that is. */
export const RELAY_LINE_LIMIT_BYTES = 4 * 1024;
/** Nothing is open for ever. Longer than a sensible drain, which then asks again. */
export const RELAY_STREAM_LIMIT_MS = 24 * 60 * 60_000;
/** While nothing changes the last line is repeated this often, so that either side notices that the other is gone. */
export const RELAY_HEARTBEAT_MS = 10_000;

/**
 * Added to {@link WITHDRAWAL_PATH} by a manager whose drain waits for nothing but this word: the last line is then
 * repeated every {@link RELAY_PULSE_MS}, so that a relay that fell silent holds up no drain. A relay that does not know
 * it answers as always, and is asked again from time to time.
 */
export const WITHDRAWAL_PULSE_QUERY = "?pulse";
export const RELAY_PULSE_MS = 200;

/** Who asks. The namespace must be the credential's. */
export type RelayedPod = { readonly namespace: string; readonly pod: string; readonly uid: string };

export type WithdrawalQuestion = RelayedPod & {
  /** The Pod's IP addresses, at most one per family. */
  readonly addresses: readonly string[];
};

/** Whether any EndpointSlice still offers the Pod. `unknown` is never taken for `out`. */
export type WithdrawalState = "in" | "out" | "unknown";

export type WithdrawalLine = {
  readonly state: WithdrawalState;
  /** The slices, or the Pod itself where the relay may read it, say that it is being deleted. */
  readonly terminating: boolean;
  /** A few words for the report: which Service, or why it is unknown. */
  readonly reason: string;
  /** The grace period this deletion really gives, where the relay may read Pods. */
  readonly graceSeconds?: number;
};

export type DrainNotice = RelayedPod & { readonly report: DrainReport };

/** Whom a credential speaks for; the owner is whom Events are told to. */
export type CredentialClaims = {
  readonly namespace: string;
  /** Kind, name and uid of the controller owner; empty where there is none. */
  readonly ownerKind: string;
  readonly ownerName: string;
  readonly ownerUid: string;
  /** Tells two credentials apart; random. */
  readonly nonce: string;
};
