/** Counts refusals of requests and connections before a review is parsed, and logs each reason at most once a minute. */
import type { Log } from "../log.ts";

/** The keys are values of a metric label and stay stable. */
export const REFUSALS = {
  without_length: "a body without Content-Length",
  slow_body: "a body that arrived too slowly",
  bodies_full: "a body that was rejected because the memory limit of all bodies was reached",
  connections_full: "a connection that was closed because the limit of connections was reached",
  slow_handshake: "a TLS handshake that timed out",
  no_handshake: "a TLS handshake that failed",
  slow_head: "a request whose headers arrived too slowly",
  large_head: "a request whose headers were too large",
  not_http: "bytes that are not an HTTP request",
  no_certificate: "a request without a certificate of the client CA",
} as const;

export type Refusal = keyof typeof REFUSALS;

export type RecordRefusal = (reason: Refusal) => void;

const LOG_EVERY_MS = 60_000;

type RefusalPorts = {
  readonly metrics: { readonly countRefusal: RecordRefusal };
  readonly log: Log;
  readonly nowMs: () => number;
};

export function refusalRecorder({ metrics, log, nowMs }: RefusalPorts): RecordRefusal {
  const lastLoggedMs = new Map<Refusal, number>();
  const suppressedCounts = new Map<Refusal, number>();
  return (reason) => {
    metrics.countRefusal(reason);
    const times = (suppressedCounts.get(reason) ?? 0) + 1;
    const lastMs = lastLoggedMs.get(reason);
    if (lastMs !== undefined && nowMs() - lastMs < LOG_EVERY_MS) {
      suppressedCounts.set(reason, times);
      return;
    }
    lastLoggedMs.set(reason, nowMs());
    suppressedCounts.delete(reason);
    log.warn({ reason, what: REFUSALS[reason], times }, "refused");
  };
}
