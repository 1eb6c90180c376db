/** Defines the webhook's CAs, their roles, and the time for which each CA is trusted. Pure. */
import type { Ca, SigningCa } from "../../authority/certificate.ts";

/** A CA that no longer signs, and stays trusted until the last certificate that it signed has expired. */
export type RetiredCa = Ca & {
  readonly retiredAtMs: number;
  /**
   * Whether the CA is no longer trusted. Its entry stays in the Secret for a while; otherwise a caBundle that still contains the
   * CA would restore it.
   */
  readonly isDropped: boolean;
};

/**
 * The CAs in the Secret. A CA is `next` until every caBundle has contained it for the settle time, later the `signer`, and at
 * last `retired`. A caBundle contains all of them, except dropped CAs.
 */
export type Authority = {
  readonly signer: SigningCa | undefined;
  readonly next: SigningCa | undefined;
  readonly retired: readonly RetiredCa[];
};

export function trustedCas(authority: Authority): readonly Ca[] {
  const { signer, next, retired } = authority;
  return [signer, next, ...retired.filter((ca) => !ca.isDropped)].filter((ca) => ca !== undefined);
}

export function storedCas(authority: Authority): readonly Ca[] {
  return [...trustedCas(authority), ...authority.retired.filter((ca) => ca.isDropped)];
}

export type Lifetimes = {
  readonly caLifeMs: number;
  readonly leafLifeMs: number;
  /** Time for which every caBundle has to contain a new CA before the CA signs. API servers then no longer use older caBundles. */
  readonly settleMs: number;
  /** A retired CA is dropped after {@link isOverdue} was true for this time, so that a temporary clock jump has no effect. */
  readonly dropDelayMs: number;
};

/** Wall-clock time for the validity of certificates, monotonic time for durations. */
export type Moment = { readonly wallMs: number; readonly monotonicMs: number };

/**
 * Limit of trusted retired CAs, which keeps a caBundle below 20 KiB. Only a Secret that is deleted repeatedly reaches the limit,
 * because a retired CA is dropped after the lifetime of a leaf.
 */
const TRUSTED_RETIRED_LIMIT = 24;
const STORED_RETIRED_LIMIT = 2 * TRUSTED_RETIRED_LIMIT;

/** Covers clock skew, and a replica that signs with the CA while another replica retires it. */
const MARGIN_MS = 60_000;

export function isOverdue(ca: RetiredCa, wallMs: number, lifetimes: Lifetimes): boolean {
  return !ca.isDropped && wallMs >= ca.retiredAtMs + trustedForMs(lifetimes);
}

export function retire({ id, cert, validFromMs, validUntilMs }: Ca, wallMs: number): RetiredCa {
  return { id, cert, validFromMs, validUntilMs, retiredAtMs: wallMs, isDropped: false };
}

/** Removes duplicates and applies the limits; the first entries have priority. */
export function withinLimits(
  retired: readonly RetiredCa[],
  wallMs: number,
  lifetimes: Lifetimes,
): readonly RetiredCa[] {
  const firstById = new Map<string, RetiredCa>();
  for (const ca of retired) if (!firstById.has(ca.id)) firstById.set(ca.id, ca);
  const retained = [...firstById.values()].filter(
    (ca) => !ca.isDropped || wallMs < ca.retiredAtMs + 2 * trustedForMs(lifetimes),
  );
  let trustedCount = 0;
  const limited = retained.map((ca) => {
    if (!ca.isDropped) trustedCount += 1;
    return trustedCount > TRUSTED_RETIRED_LIMIT ? { ...ca, isDropped: true } : ca;
  });
  return limited.slice(0, STORED_RETIRED_LIMIT);
}

function trustedForMs(lifetimes: Lifetimes): number {
  return lifetimes.leafLifeMs + lifetimes.leafLifeMs / 24 + MARGIN_MS;
}
