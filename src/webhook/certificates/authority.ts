/** Defines the CAs of the webhook, the role of each, and how long it is trusted. Pure. */
import type { Ca, SigningCa } from "../../authority/certificate.ts";

/** No longer signs, and stays trusted until the last certificate it signed has expired. */
export type RetiredCa = Ca & {
  readonly retiredAtMs: number;
  /** No longer trusted. Kept for a while, or a bundle that still contains it would count it as lost from the Secret. */
  readonly isDropped: boolean;
};

/**
 * The CAs in the Secret. A CA is `next` until every caBundle has contained it for the settle time, then the `signer`, then
 * `retired`. The caBundle is all of them.
 */
export type Authority = {
  readonly signer: SigningCa | undefined;
  readonly next: SigningCa | undefined;
  readonly retired: readonly RetiredCa[];
};

export function trustedBy(authority: Authority): readonly Ca[] {
  const { signer, next, retired } = authority;
  return [signer, next, ...retired.filter((ca) => !ca.isDropped)].filter((ca) => ca !== undefined);
}

export function storedCas(authority: Authority): readonly Ca[] {
  return [...trustedBy(authority), ...authority.retired.filter((ca) => ca.isDropped)];
}

export type Lifetimes = {
  readonly caLifeMs: number;
  readonly leafLifeMs: number;
  /** From the time every caBundle contains a new CA until it signs. No API server uses an older bundle by then. */
  readonly settleMs: number;
  /** Time for which a retired CA has to be overdue before it is dropped, so that a clock jump can be corrected. */
  readonly dropHoldMs: number;
};

/** Wall-clock time for the validity of certificates, monotonic time for durations. */
export type Moment = { readonly wallMs: number; readonly monotonicMs: number };

/**
 * Limit of trusted retired CAs; keeps a caBundle below 20 KiB. Only a Secret that is deleted repeatedly reaches it, since a
 * retired CA is dropped after the lifetime of a leaf.
 */
const TRUSTED_LIMIT = 24;
const RECORD_LIMIT = 2 * TRUSTED_LIMIT;

/** Covers clock skew, and a replica that signs while another one retires the CA. */
const MARGIN_MS = 60_000;

export function isOverdue(ca: RetiredCa, wallMs: number, lives: Lifetimes): boolean {
  return !ca.isDropped && wallMs >= ca.retiredAtMs + trustedForMs(lives);
}

export function retire({ id, cert, validFromMs, validUntilMs }: Ca, wallMs: number): RetiredCa {
  return { id, cert, validFromMs, validUntilMs, retiredAtMs: wallMs, isDropped: false };
}

/** Removes duplicates and applies the limits; entries at the front are kept. */
export function withinLimits(retired: readonly RetiredCa[], wallMs: number, lives: Lifetimes): readonly RetiredCa[] {
  const first = new Map<string, RetiredCa>();
  for (const ca of retired) if (!first.has(ca.id)) first.set(ca.id, ca);
  const kept = [...first.values()].filter((ca) => !ca.isDropped || wallMs < ca.retiredAtMs + 2 * trustedForMs(lives));
  let trusted = 0;
  const limited = kept.map((ca) => {
    if (!ca.isDropped) trusted += 1;
    return trusted > TRUSTED_LIMIT ? { ...ca, isDropped: true } : ca;
  });
  return limited.slice(0, RECORD_LIMIT);
}

function trustedForMs(lives: Lifetimes): number {
  return lives.leafLifeMs + lives.leafLifeMs / 24 + MARGIN_MS;
}
