/**
 * Decides the next step for the CAs of the webhook from what was read and the time. Pure. Several replicas take steps at
 * once without a leader, and each reads everything again after a step.
 *
 * Invariant: every caBundle that an API server may still hold trusts the CA of every leaf that a ready replica serves.
 * It holds because a CA is in every bundle for the settle time before it signs; because writes fail when what was read has
 * changed, and the configuration is read before the Secret, so that no bundle of an older Secret replaces a newer one; and
 * because a CA that is only left in a bundle or a leaf returns to the Secret before anything is published.
 */
import { type Ca, holds, holdsExactly, isValidAt, type SigningCa } from "../../authority/certificate.ts";
import {
  type Authority,
  isOverdue,
  type Lives,
  type Moment,
  retire,
  storedCas,
  trustedBy,
  withinLimits,
} from "./authority.ts";

/** Read in this order: the configuration, then the Secret. */
export type Seen = {
  /** When reading began. */
  readonly moment: Moment;
  readonly bundles: readonly string[];
  /** The product's CAs in any of the bundles. */
  readonly published: readonly Ca[];
  readonly authority: Authority;
  /** The Secret is missing or a part of it is unusable. */
  readonly isDamaged: boolean;
  readonly salvaged: readonly Ca[];
};

type ServedLeaf = { readonly ca: Ca; readonly validUntilMs: number };

/** State of one process between its steps. */
export type Memory = {
  readonly leaf: ServedLeaf | undefined;
  /** Since when, without interruption, every webhook was seen to carry the signer. Monotonic milliseconds. */
  readonly signerSeen: Sighting | undefined;
  /** The same of the next CA, while the bundles were right in every respect. */
  readonly nextSeen: Sighting | undefined;
  /** Since when these retired CAs were seen overdue. Monotonic milliseconds. */
  readonly overdueSeen: Sighting | undefined;
};

type Sighting = { readonly what: string; readonly sinceMs: number };

export const NO_MEMORY: Memory = {
  leaf: undefined,
  signerSeen: undefined,
  nextSeen: undefined,
  overdueSeen: undefined,
};

/** To write into the Secret, after the next CA is made where that is needed. */
export type Draft = Omit<Authority, "next"> & { readonly next: SigningCa | "to be made" | undefined };

export type WriteReason = "begin" | "repair" | "rotate" | "promote" | "drop";

export type Step =
  | { readonly kind: "issue"; readonly signer: SigningCa; readonly validUntilMs: number }
  | { readonly kind: "write"; readonly draft: Draft; readonly reason: WriteReason }
  | { readonly kind: "publish"; readonly cas: readonly Ca[] };

/** Without a step when nothing is left to do. */
type Decided = { readonly step: Step | undefined; readonly memory: Memory };

export function decide(seen: Seen, last: Memory, lives: Lives): Decided {
  const isPublished = seen.bundles.every((bundle) => holdsExactly(bundle, trustedBy(seen.authority)));
  const memory = remembered(seen, last, { isPublished, lives });
  const step =
    issueStep(seen, memory, lives) ??
    mendStep(seen, memory.leaf, lives) ??
    (isPublished ? undefined : { kind: "publish" as const, cas: trustedBy(seen.authority) }) ??
    promoteStep(seen, memory, lives) ??
    dropStep(seen, memory.overdueSeen, lives);
  return { step, memory };
}

function remembered(seen: Seen, last: Memory, { isPublished, lives }: { isPublished: boolean; lives: Lives }): Memory {
  const { signer, next, retired } = seen.authority;
  const hasSigner = signer !== undefined && isTrustedEverywhere(seen.bundles, signer);
  // The signer was seen while it was the next one.
  const signerLast = last.signerSeen?.what === signer?.id ? last.signerSeen : last.nextSeen;
  const overdue = retired.filter((ca) => ca.id !== last.leaf?.ca.id && isOverdue(ca, seen.moment.wallMs, lives));
  const overdueIds = overdue.map((ca) => ca.id).join(" ");
  return {
    leaf: last.leaf,
    signerSeen: sightingOf(hasSigner ? signer.id : undefined, signerLast, seen.moment),
    nextSeen: sightingOf(isPublished ? next?.id : undefined, last.nextSeen, seen.moment),
    overdueSeen: sightingOf(overdueIds === "" ? undefined : overdueIds, last.overdueSeen, seen.moment),
  };
}

/** Whether every webhook of the configuration trusts what this CA signed. */
export function isTrustedEverywhere(bundles: readonly string[], ca: Ca): boolean {
  return bundles.every((bundle) => holds(bundle, ca));
}

/** Only the signer signs, and only while every webhook carries it. */
function issueStep(seen: Seen, { leaf, signerSeen }: Memory, lives: Lives): Step | undefined {
  const { signer } = seen.authority;
  const { wallMs } = seen.moment;
  if (signer === undefined || !isValidAt(signer, wallMs) || signerSeen === undefined) return undefined;
  const validUntilMs = Math.min(wallMs + lives.leafLifeMs, signer.validUntilMs);
  const step: Step = { kind: "issue", signer, validUntilMs };
  if (leaf === undefined) return step;
  if (leaf.ca.id !== signer.id) {
    const isLeafWorthless = wallMs >= leaf.validUntilMs || !isTrustedEverywhere(seen.bundles, leaf.ca);
    return isLeafWorthless || hasSettled(signerSeen, seen.moment, lives) ? step : undefined;
  }
  const isDue = wallMs >= leaf.validUntilMs - lives.leafLifeMs / 3 && validUntilMs > leaf.validUntilMs;
  // Made while the clock was ahead: it would outlive its CA's time in the bundle.
  const isTooLong = leaf.validUntilMs > wallMs + lives.leafLifeMs + lives.leafLifeMs / 24;
  return isDue || isTooLong ? step : undefined;
}

/** For a Secret that is missing, damaged or edited, or whose CA is in its last third. */
function mendStep(seen: Seen, leaf: ServedLeaf | undefined, lives: Lives): Step | undefined {
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

function reasonOf(seen: Seen, lost: readonly Ca[]): WriteReason {
  if (trustedBy(seen.authority).length === 0 && lost.length === 0) return "begin";
  return seen.isDamaged || lost.length > 0 ? "repair" : "rotate";
}

/** CAs that may have signed a leaf in use, and are not in the Secret any more. */
function lostCas(seen: Seen, leaf: ServedLeaf | undefined): readonly Ca[] {
  const found = [...(leaf === undefined ? [] : [leaf.ca]), ...seen.salvaged, ...seen.published];
  const stored = new Set(storedCas(seen.authority).map((ca) => ca.id));
  return [...new Map(found.filter((ca) => !stored.has(ca.id)).map((ca) => [ca.id, ca])).values()];
}

/** A signer that no webhook carries was put into the Secret by hand: it has to be published first, as every new CA. */
function isForeignSigner({ authority, published }: Seen, leaf: ServedLeaf | undefined): boolean {
  const { signer } = authority;
  if (signer === undefined || published.some((ca) => ca.id === signer.id)) return false;
  // Where no other CA is published either, the bundles were emptied, and the signer has not changed.
  return leaf === undefined ? published.length > 0 : leaf.ca.id !== signer.id;
}

function isInLastThird(ca: Ca, moment: Moment, lives: Lives): boolean {
  return moment.wallMs >= ca.validUntilMs - lives.caLifeMs / 3;
}

function promoteStep({ authority, moment }: Seen, { nextSeen }: Memory, lives: Lives): Step | undefined {
  const { signer, next, retired } = authority;
  // One from the future, made while a clock was ahead, is promoted too: the next one then follows it at once.
  if (next === undefined || nextSeen === undefined) return undefined;
  // While no replica can be serving yet, an API server with an old bundle does no harm.
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

function dropStep({ authority, moment }: Seen, overdue: Sighting | undefined, lives: Lives): Step | undefined {
  if (overdue === undefined || moment.monotonicMs - overdue.sinceMs < lives.dropHoldMs) return undefined;
  const gone = new Set(overdue.what.split(" "));
  const marked = authority.retired.map((ca) => (gone.has(ca.id) ? { ...ca, isDropped: true } : ca));
  const draft: Draft = { ...authority, retired: withinLimits(marked, moment.wallMs, lives) };
  return { kind: "write", draft, reason: "drop" };
}

function hasSettled(sighting: Sighting, now: Moment, lives: Lives): boolean {
  return now.monotonicMs - sighting.sinceMs >= lives.settleMs;
}

function sightingOf(what: string | undefined, last: Sighting | undefined, now: Moment): Sighting | undefined {
  if (what === undefined) return undefined;
  return last?.what === what ? last : { what, sinceMs: now.monotonicMs };
}
