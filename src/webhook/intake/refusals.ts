/** What is turned away before it is read as a review: counted by reason, and logged seldom enough that no flood fills the log. */
import type { Log } from "../log.ts";

/** The keys are metric labels and never renamed. */
export const REFUSALS = {
  without_length: "a body that did not say its length",
  slow_body: "a body that came too slowly",
  bodies_full: "a body that had to make room for newer ones",
  connections_full: "a connection that had to make room for newer ones",
  slow_handshake: "a connection that did not finish its TLS handshake",
  no_handshake: "a connection whose TLS handshake failed",
  slow_head: "a request whose head came too slowly",
  large_head: "a request with too large a head",
  not_http: "bytes that are no HTTP request",
  no_certificate: "a request without a certificate of the client CA",
} as const;

export type Refusal = keyof typeof REFUSALS;

/** Counts one. */
export type Refuse = (reason: Refusal) => void;

/** One line in a minute for each reason tells as much as one for each connection. */
const LOG_EVERY_MS = 60_000;

type RefusalPorts = {
  readonly meters: { readonly countRefusal: Refuse };
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

export function countAndLog({ meters, log, nowMs }: RefusalPorts): Refuse {
  const loggedMs = new Map<Refusal, number>();
  const unsaid = new Map<Refusal, number>();
  return (reason) => {
    meters.countRefusal(reason);
    const times = (unsaid.get(reason) ?? 0) + 1;
    const lastMs = loggedMs.get(reason);
    if (lastMs !== undefined && nowMs() - lastMs < LOG_EVERY_MS) {
      unsaid.set(reason, times);
      return;
    }
    loggedMs.set(reason, nowMs());
    unsaid.delete(reason);
    log.warn({ reason, what: REFUSALS[reason], times }, "refused");
  };
}
