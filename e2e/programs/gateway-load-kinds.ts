/** Lists the kinds of load on a gateway, and the counts of the program `gateway-load`. */
import type { LoadPlan, Protocol } from "../../test/programs/rollouts/rollouts-request.ts";

export type RequestKind = { readonly protocol: Protocol; readonly lives: LoadPlan["lives"] };
export type SessionKind = "websocket" | "tcp" | "udp" | "idle";

export const LOAD_KINDS = {
  "http1-short": { protocol: "http1", lives: { leastMs: 1_000, mostMs: 10_000 } },
  "http1-endless": { protocol: "http1", lives: "endless" },
  http2: { protocol: "http2", lives: "endless" },
  grpc: { protocol: "grpc", lives: "endless" },
  websocket: { session: "websocket" },
  tcp: { session: "tcp" },
  udp: { session: "udp" },
  idle: { session: "idle" },
} as const satisfies Readonly<Record<string, RequestKind | { readonly session: SessionKind }>>;

export type LoadKind = keyof typeof LOAD_KINDS;

export function isLoadKind(text: string): text is LoadKind {
  return Object.hasOwn(LOAD_KINDS, text);
}

export type GatewayCounts = {
  /** Number of requests; for the kinds with sessions, number of answered messages. */
  readonly requests: number;
  readonly failed: number;
  readonly failures: readonly string[];
};
