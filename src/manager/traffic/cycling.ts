/**
 * Finds *cycling* connections: they completed exchanges during the drain and continue, so waiting does not end them. Pure.
 *
 * An exchange is data received and then sent. A connection cycles from its second exchange on, because an interim response
 * (`100 Continue`) is an exchange too. WebSockets with data in both directions, and streams of HTTP/2 with window updates, are
 * indistinguishable from cycling connections.
 */
import type { Activity } from "./quiet.ts";

/** Progress of a connection: 0 none, 1 data received, 2 one exchange, 3 data received again, 4 two exchanges. */
export type ExchangeStep = number;

export const NO_EXCHANGE: ExchangeStep = 0;
export const CYCLING: ExchangeStep = 4;

/** A response that is outstanding for longer belongs to a slow request or an upload, and the drain waits for it. */
const SLOW_RESPONSE_MS = 1_000;

/** Advances by at most one exchange per sample, because the order of the data between two samples is unknown. */
export function nextExchangeStep(step: ExchangeStep, hasReceived: boolean, hasSent: boolean): ExchangeStep {
  if (step >= CYCLING) return CYCLING;
  const isRequestPending = step === 1 || step === 3;
  if (isRequestPending) return hasSent ? step + 1 : step;
  if (!hasReceived) return step;
  return hasSent ? step + 2 : step + 1;
}

/** @param outstandingMs time for which a response has been outstanding; only used if the connection is not idle */
export function isCycling(step: ExchangeStep, activity: Activity, outstandingMs: number): boolean {
  return step === CYCLING && (activity === "idle" || outstandingMs < SLOW_RESPONSE_MS);
}
