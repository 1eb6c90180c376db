/** Defines the protocol between manager and relay: HTTP/1.1 with JSON, over TLS with a pinned CA. */
import type { DrainReport } from "./drain-report.ts";

/**
 * POST of a {@link WithdrawalRequest}; the response streams one {@link WithdrawalStatusLine} per change, the first at
 * once, until the client closes the stream. The stream continues after `out`, because a Pod can become ready again. The relay ends
 * the stream at its own shutdown and after {@link RELAY_STREAM_LIMIT_MS}; the client then connects again.
 */
export const WITHDRAWAL_PATH = "/v1/withdrawal";
export const DRAINS_PATH = "/v1/drains";

export const CREDENTIAL_SCHEME = "Lastcall";

/** Larger bodies are refused with 413. A report with 20 connections takes about 3 KiB. */
export const RELAY_BODY_LIMIT_BYTES = 16 * 1024;
/** Longest line of a streamed response; a client closes a stream with a longer line. */
export const RELAY_LINE_LIMIT_BYTES = 4 * 1024;
/** Longer than usual drains; the manager of a longer drain connects again. */
export const RELAY_STREAM_LIMIT_MS = 24 * 60 * 60_000;
/** Interval at which an unchanged line is repeated, so that each side detects a broken connection. */
export const RELAY_KEEPALIVE_MS = 10_000;

/**
 * A manager whose drain waits only for the withdrawal appends this query to {@link WITHDRAWAL_PATH}. The relay then repeats the last
 * line every {@link RELAY_HEARTBEAT_MS}, so that an unresponsive relay does not delay the drain. A relay may ignore the query.
 */
export const WITHDRAWAL_HEARTBEAT_QUERY = "?heartbeat";
export const RELAY_HEARTBEAT_MS = 200;

/** The Pod whose manager sends the request. The credential must be valid for the Pod's namespace. */
export type RelayedPod = { readonly namespace: string; readonly pod: string; readonly uid: string };

export type WithdrawalRequest = RelayedPod & {
  /** The Pod's IP addresses, at most one per family. */
  readonly addresses: readonly string[];
};

/** `in`: an EndpointSlice still lists the Pod for new connections. `unknown` never counts as `out`. */
export type WithdrawalState = "in" | "out" | "unknown";

export type WithdrawalStatusLine = {
  readonly state: WithdrawalState;
  /** Whether the Pod is being deleted, according to the slices or, where the relay may read Pods, its deletionTimestamp. */
  readonly terminating: boolean;
  /** For the report: the Service that still lists the Pod, or the reason why the state is unknown. */
  readonly reason: string;
  /** The Pod's deletionGracePeriodSeconds, where the relay may read Pods. */
  readonly graceSeconds?: number;
  /** Set if no connection was reset when the last Pods of the workload stopped, although clients kept sending requests. */
  readonly shutdown?: "graceful";
};

export type DrainNotice = RelayedPod & { readonly report: DrainReport };

/** Content of a credential. The relay records Events on the owner. */
export type CredentialClaims = {
  readonly namespace: string;
  /** Kind of the Pod's controller, from its owner references; empty without one. */
  readonly ownerKind: string;
  readonly ownerName: string;
  readonly ownerUid: string;
  readonly nonce: string;
};
