/** The CAs of the webhook and the purpose of each. Pure data. */
import type { Ca, SigningCa } from "../../authority/certificate.ts";

/** No longer signs, and stays trusted until the last certificate it signed has expired. */
export type RetiredCa = Ca & {
  readonly retiredAtMs: number;
  /** No longer trusted. It is remembered for a while: a CA of ours in a bundle that the Secret does not know was lost. */
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

/** Every CA the Secret speaks of, trusted or not. */
export function knownTo(authority: Authority): readonly Ca[] {
  return [...trustedBy(authority), ...authority.retired.filter((ca) => ca.isDropped)];
}

/** How long things live, in milliseconds. */
export type Lives = {
  readonly caLifeMs: number;
  readonly leafLifeMs: number;
  /** From the moment every webhook carries a new CA until it signs: no API server may still hold the old bundle then. */
  readonly settleMs: number;
  /** How long a process must have seen a retired CA overdue before it is dropped: a clock that jumped is put right meanwhile. */
  readonly dropHoldMs: number;
};

/** Wall-clock time for what certificates say, monotonic time for how long something was seen. */
export type Moment = { readonly wallMs: number; readonly monotonicMs: number };
