/** The CAs of the webhook, the purpose of each, and how long it is trusted. Pure. */
import type { Ca, SigningCa } from "../../authority/certificate.ts";

/** No longer signs, and stays trusted until the last certificate it signed has expired. */
export type RetiredCa = Ca & {
  readonly retiredAtMs: number;
  /** No longer trusted. It is remembered for a while: otherwise its CA in a bundle would count as lost by the Secret. */
  readonly isDropped: boolean;
};

/**
 * What the Secret holds. A CA is `next` until every webhook's caBundle has carried it for a while, then the `signer`,
 * then `retired`. All of them together are the bundle that clients trust.
 */
export type Authority = {
  readonly signer: SigningCa | undefined;
  readonly next: SigningCa | undefined;
  readonly retired: readonly RetiredCa[];
};

/** Everything a client must trust, the signer first. */
export function trustedBy(authority: Authority): readonly Ca[] {
  const { signer, next, retired } = authority;
  return [signer, next, ...retired.filter((ca) => !ca.isDropped)].filter((ca) => ca !== undefined);
}

/** Every CA in the Secret, trusted or not. */
export function storedCas(authority: Authority): readonly Ca[] {
  return [...trustedBy(authority), ...authority.retired.filter((ca) => ca.isDropped)];
}

/** How long things live, in milliseconds. */
export type Lives = {
  readonly caLifeMs: number;
  readonly leafLifeMs: number;
  /** From the moment every webhook carries a new CA until it signs: no API server may still hold the old bundle then. */
  readonly settleMs: number;
  /** How long a process must have seen a retired CA overdue before it is dropped: a clock that jumped may be corrected meanwhile. */
  readonly dropHoldMs: number;
};

/** Wall-clock time for the validity of certificates, monotonic time for durations. */
export type Moment = { readonly wallMs: number; readonly monotonicMs: number };

/**
 * Most retired CAs that are trusted. One is for as long as a leaf lives, so only a Secret that is deleted again and
 * again gets there; a caBundle then stays below 20 KiB.
 */
const TRUSTED_LIMIT = 24;
const REMEMBERED_LIMIT = 2 * TRUSTED_LIMIT;

/** Clocks that differ, and a replica that was signing while another one retired the CA. */
const MARGIN_MS = 60_000;

/** Whether every leaf it signed has expired. */
export function isOverdue(ca: RetiredCa, wallMs: number, lives: Lives): boolean {
  return !ca.isDropped && wallMs >= ca.retiredAtMs + trustedForMs(lives);
}

export function retire({ id, cert, validFromMs, validUntilMs }: Ca, wallMs: number): RetiredCa {
  return { id, cert, validFromMs, validUntilMs, retiredAtMs: wallMs, isDropped: false };
}

/** One entry per CA and no more than the limits; the first of the list are the ones that stay. */
export function withinLimits(retired: readonly RetiredCa[], wallMs: number, lives: Lives): readonly RetiredCa[] {
  const first = new Map<string, RetiredCa>();
  for (const ca of retired) if (!first.has(ca.id)) first.set(ca.id, ca);
  const kept = [...first.values()].filter((ca) => !ca.isDropped || wallMs < ca.retiredAtMs + 2 * trustedForMs(lives));
  let trusted = 0;
  const limited = kept.map((ca) => {
    if (!ca.isDropped) trusted += 1;
    return trusted > TRUSTED_LIMIT ? { ...ca, isDropped: true } : ca;
  });
  return limited.slice(0, REMEMBERED_LIMIT);
}

function trustedForMs(lives: Lives): number {
  return lives.leafLifeMs + lives.leafLifeMs / 24 + MARGIN_MS;
}
