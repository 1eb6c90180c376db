/**
 * Decides the next step for the CAs of the webhook from the observed objects and the time. Pure. Replicas take steps
 * concurrently without a leader, and read all objects again after each step.
 *
 * Invariant: every caBundle that an API server may still use contains the CA of every leaf that a ready replica serves.
 * 1. A CA is in every caBundle for the settle time before it signs.
 * 2. Writes fail after a concurrent change, and the configuration is read before the Secret, so a caBundle from an older Secret
 *    never replaces a caBundle from a newer Secret.
 * 3. A CA that is missing from the Secret, but in a caBundle or in use, returns to the Secret before a caBundle is written.
 */
import { type Ca, holds, holdsExactly, isValidAt, type SigningCa } from "../../authority/certificate.ts";
import {
  type Authority,
  isOverdue,
  type Lifetimes,
  type Moment,
  retire,
  storedCas,
  trustedBy,
  withinLimits,
} from "./authority.ts";

/** The configuration is read before the Secret. */
export type Observed = {
  readonly moment: Moment;
  readonly bundles: readonly string[];
  readonly published: readonly Ca[];
  readonly authority: Authority;
  /** The Secret is missing or has an unusable entry. */
  readonly isDamaged: boolean;
  readonly salvaged: readonly Ca[];
};

type ServedLeaf = { readonly ca: Ca; readonly validUntilMs: number };

export type ReplicaState = {
  readonly leaf: ServedLeaf | undefined;
  /** The signer, since every caBundle contains it without interruption. */
  readonly signerSeen: Sighting | undefined;
  /** The next CA, since every caBundle has its desired value, which includes the next CA. */
  readonly nextSeen: Sighting | undefined;
  /** The overdue retired CAs, since the last change of this list. */
  readonly overdueSeen: Sighting | undefined;
};

/** `caIds`: IDs separated by spaces. `sinceMs`: monotonic milliseconds. */
type Sighting = { readonly what: string; readonly sinceMs: number };

export const INITIAL_STATE: ReplicaState = {
  leaf: undefined,
  signerSeen: undefined,
  nextSeen: undefined,
  overdueSeen: undefined,
};

/** The new content of the Secret, before a next CA is created. */
export type Draft = Omit<Authority, "next"> & { readonly next: SigningCa | "to be made" | undefined };

export type WriteReason = "begin" | "repair" | "rotate" | "promote" | "drop";

export type Step =
  | { readonly kind: "issue"; readonly signer: SigningCa; readonly validUntilMs: number }
  | { readonly kind: "write"; readonly draft: Draft; readonly reason: WriteReason }
  | { readonly kind: "publish"; readonly cas: readonly Ca[] };

type Decision = { readonly step: Step | undefined; readonly state: ReplicaState };

export function decide(seen: Observed, last: ReplicaState, lives: Lifetimes): Decision {
  const isPublished = seen.bundles.every((bundle) => holdsExactly(bundle, trustedBy(seen.authority)));
  const state = nextState(seen, last, { isPublished, lives });
  const step =
    issueStep(seen, state, lives) ??
    repairStep(seen, state.leaf, lives) ??
    (isPublished ? undefined : { kind: "publish" as const, cas: trustedBy(seen.authority) }) ??
    promoteStep(seen, state, lives) ??
    dropStep(seen, state.overdueSeen, lives);
  return { step, state };
}

function nextState(
  seen: Observed,
  last: ReplicaState,
  { isPublished, lives }: { isPublished: boolean; lives: Lifetimes },
): ReplicaState {
  const { signer, next, retired } = seen.authority;
  const hasSigner = signer !== undefined && isTrustedEverywhere(seen.bundles, signer);
  // After a promotion, the time as next CA counts for the signer.
  const signerLast = last.signerSeen?.what === signer?.id ? last.signerSeen : last.nextSeen;
  const overdue = retired.filter((ca) => ca.id !== last.leaf?.ca.id && isOverdue(ca, seen.moment.wallMs, lives));
  const overdueIds = overdue.map((ca) => ca.id).join(" ");
  return {
    leaf: last.leaf,
    signerSeen: seenSince(hasSigner ? signer.id : undefined, signerLast, seen.moment),
    nextSeen: seenSince(isPublished ? next?.id : undefined, last.nextSeen, seen.moment),
    overdueSeen: seenSince(overdueIds === "" ? undefined : overdueIds, last.overdueSeen, seen.moment),
  };
}

export function isTrustedEverywhere(bundles: readonly string[], ca: Ca): boolean {
  return bundles.every((bundle) => holds(bundle, ca));
}

/** Only the signer signs, and only while every caBundle contains it. */
function issueStep(seen: Observed, { leaf, signerSeen }: ReplicaState, lives: Lifetimes): Step | undefined {
  const { signer } = seen.authority;
  const { wallMs } = seen.moment;
  if (signer === undefined || !isValidAt(signer, wallMs) || signerSeen === undefined) return undefined;
  const validUntilMs = Math.min(wallMs + lives.leafLifeMs, signer.validUntilMs);
  const step: Step = { kind: "issue", signer, validUntilMs };
  if (leaf === undefined) return step;
  if (leaf.ca.id !== signer.id) {
    const isLeafUseless = wallMs >= leaf.validUntilMs || !isTrustedEverywhere(seen.bundles, leaf.ca);
    return isLeafUseless || hasSettled(signerSeen, seen.moment, lives) ? step : undefined;
  }
  const isDue = wallMs >= leaf.validUntilMs - lives.leafLifeMs / 3 && validUntilMs > leaf.validUntilMs;
  // Issued while the clock was ahead: the leaf would still be in use after its CA is dropped.
  const isTooLong = leaf.validUntilMs > wallMs + lives.leafLifeMs + lives.leafLifeMs / 24;
  return isDue || isTooLong ? step : undefined;
}

/** Repairs a missing, damaged or edited Secret, and creates a next CA in the last third of the signer's validity. */
function repairStep(seen: Observed, leaf: ServedLeaf | undefined, lives: Lifetimes): Step | undefined {
  const { authority, moment } = seen;
  const lost = lostCas(seen, leaf);
  const isForeign = isForeignSigner(seen, leaf);
  const signer = isForeign ? undefined : authority.signer;
  const candidate = isForeign ? authority.signer : authority.next;
  const usable = candidate !== undefined && !isInLastThird(candidate, moment, lives) ? candidate : undefined;
  const isWanted = signer === undefined || isInLastThird(signer, moment, lives) || moment.wallMs < signer.validFromMs;
  const next = usable ?? (isWanted ? "to be made" : undefined);
  if (!seen.isDamaged && !isForeign && lost.length === 0 && next === authority.next) return undefined;
  const found = lost.map((ca) => retire(ca, moment.wallMs));
  const taken = [signer, usable];
  const retired = [...found, ...authority.retired].filter((ca) => !taken.some((other) => other?.id === ca.id));
  const draft: Draft = { signer, next, retired: withinLimits(retired, moment.wallMs, lives) };
  return { kind: "write", draft, reason: reasonOf(seen, lost) };
}

function reasonOf(seen: Observed, lost: readonly Ca[]): WriteReason {
  if (trustedBy(seen.authority).length === 0 && lost.length === 0) return "begin";
  return seen.isDamaged || lost.length > 0 ? "repair" : "rotate";
}

/** CAs that may have signed a leaf in use and are missing from the Secret. */
function lostCas(seen: Observed, leaf: ServedLeaf | undefined): readonly Ca[] {
  const found = [...(leaf === undefined ? [] : [leaf.ca]), ...seen.salvaged, ...seen.published];
  const stored = new Set(storedCas(seen.authority).map((ca) => ca.id));
  return [...new Map(found.filter((ca) => !stored.has(ca.id)).map((ca) => [ca.id, ca])).values()];
}

/** A signer that is in no caBundle was added to the Secret by hand, and has to be published before it signs. */
function isForeignSigner({ authority, published }: Observed, leaf: ServedLeaf | undefined): boolean {
  const { signer } = authority;
  if (signer === undefined || published.some((ca) => ca.id === signer.id)) return false;
  // If no CA is published, another client emptied the caBundles, and the signer is unchanged.
  return leaf === undefined ? published.length > 0 : leaf.ca.id !== signer.id;
}

function isInLastThird(ca: Ca, moment: Moment, lives: Lifetimes): boolean {
  return moment.wallMs >= ca.validUntilMs - lives.caLifeMs / 3;
}

function promoteStep({ authority, moment }: Observed, { nextSeen }: ReplicaState, lives: Lifetimes): Step | undefined {
  const { signer, next, retired } = authority;
  // A CA created while a clock was ahead is not valid yet. It is promoted too, and its successor follows at once.
  if (next === undefined || nextSeen === undefined) return undefined;
  // Before the first CA no replica is ready, so outdated caBundles do no harm.
  const isFirst = signer === undefined && retired.length === 0;
  if (!isFirst && !hasSettled(nextSeen, moment, lives)) return undefined;
  const old = signer === undefined ? [] : [retire(signer, moment.wallMs)];
  const draft: Draft = {
    signer: next,
    next: undefined,
    retired: withinLimits([...old, ...retired], moment.wallMs, lives),
  };
  return { kind: "write", draft, reason: "promote" };
}

function dropStep({ authority, moment }: Observed, overdue: Sighting | undefined, lives: Lifetimes): Step | undefined {
  if (overdue === undefined || moment.monotonicMs - overdue.sinceMs < lives.dropHoldMs) return undefined;
  const gone = new Set(overdue.what.split(" "));
  const marked = authority.retired.map((ca) => (gone.has(ca.id) ? { ...ca, isDropped: true } : ca));
  const draft: Draft = { ...authority, retired: withinLimits(marked, moment.wallMs, lives) };
  return { kind: "write", draft, reason: "drop" };
}

function hasSettled(sighting: Sighting, now: Moment, lives: Lifetimes): boolean {
  return now.monotonicMs - sighting.sinceMs >= lives.settleMs;
}

function seenSince(what: string | undefined, last: Sighting | undefined, now: Moment): Sighting | undefined {
  if (what === undefined) return undefined;
  return last?.what === what ? last : { what, sinceMs: now.monotonicMs };
}
