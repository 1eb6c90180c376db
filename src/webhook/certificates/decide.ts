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
import {
  type Ca,
  containsCertificate,
  containsExactly,
  isValidAt,
  type SigningCa,
} from "../../authority/certificate.ts";
import {
  type Authority,
  isOverdue,
  type Lifetimes,
  type Moment,
  retire,
  storedCas,
  trustedCas,
  withinLimits,
} from "./authority.ts";

/** The configuration is read before the Secret. */
export type ObservedState = {
  readonly moment: Moment;
  readonly bundles: readonly string[];
  readonly publishedCas: readonly Ca[];
  readonly authority: Authority;
  /** The Secret is missing or has an unusable entry. */
  readonly isDamaged: boolean;
  readonly keylessCas: readonly Ca[];
};

type ServedLeaf = { readonly ca: Ca; readonly validUntilMs: number };

export type ReplicaState = {
  readonly leaf: ServedLeaf | undefined;
  /** The signer, and the time from which every caBundle has contained it without interruption. */
  readonly signerObservation: Observation | undefined;
  /** The next CA, and the time from which every caBundle has had its desired value, which includes the next CA. */
  readonly nextObservation: Observation | undefined;
  /** The overdue retired CAs, and the time of the last change of this list. */
  readonly overdueObservation: Observation | undefined;
};

/** `caIds`: IDs separated by spaces. `sinceMs`: monotonic milliseconds. */
type Observation = { readonly caIds: string; readonly sinceMs: number };

export const INITIAL_STATE: ReplicaState = {
  leaf: undefined,
  signerObservation: undefined,
  nextObservation: undefined,
  overdueObservation: undefined,
};

/** The new content of the Secret, before a next CA is created. */
export type Draft = Omit<Authority, "next"> & { readonly next: SigningCa | "to be created" | undefined };

export type WriteReason = "begin" | "repair" | "rotate" | "promote" | "drop";

export type Step =
  | { readonly kind: "issue"; readonly signer: SigningCa; readonly validUntilMs: number }
  | { readonly kind: "write"; readonly draft: Draft; readonly reason: WriteReason }
  | { readonly kind: "publish"; readonly cas: readonly Ca[] };

type Decision = { readonly step: Step | undefined; readonly state: ReplicaState };

export function decide(observed: ObservedState, lastState: ReplicaState, lifetimes: Lifetimes): Decision {
  const isPublished = observed.bundles.every((bundle) => containsExactly(bundle, trustedCas(observed.authority)));
  const state = nextState(observed, lastState, { isPublished, lifetimes });
  const step =
    issueStep(observed, state, lifetimes) ??
    repairStep(observed, state.leaf, lifetimes) ??
    (isPublished ? undefined : { kind: "publish" as const, cas: trustedCas(observed.authority) }) ??
    promoteStep(observed, state, lifetimes) ??
    dropStep(observed, state.overdueObservation, lifetimes);
  return { step, state };
}

function nextState(
  observed: ObservedState,
  lastState: ReplicaState,
  { isPublished, lifetimes }: { isPublished: boolean; lifetimes: Lifetimes },
): ReplicaState {
  const { signer, next, retired } = observed.authority;
  const isSignerTrusted = signer !== undefined && isTrustedEverywhere(observed.bundles, signer);
  // A promoted signer keeps the observation that it had as the next CA.
  const lastSignerObservation =
    lastState.signerObservation?.caIds === signer?.id ? lastState.signerObservation : lastState.nextObservation;
  const overdueCas = retired.filter(
    (ca) => ca.id !== lastState.leaf?.ca.id && isOverdue(ca, observed.moment.wallMs, lifetimes),
  );
  const overdueIds = overdueCas.map((ca) => ca.id).join(" ");
  return {
    leaf: lastState.leaf,
    signerObservation: continuedObservation(
      isSignerTrusted ? signer.id : undefined,
      lastSignerObservation,
      observed.moment,
    ),
    nextObservation: continuedObservation(
      isPublished ? next?.id : undefined,
      lastState.nextObservation,
      observed.moment,
    ),
    overdueObservation: continuedObservation(
      overdueIds === "" ? undefined : overdueIds,
      lastState.overdueObservation,
      observed.moment,
    ),
  };
}

export function isTrustedEverywhere(bundles: readonly string[], ca: Ca): boolean {
  return bundles.every((bundle) => containsCertificate(bundle, ca));
}

/** Only the signer signs, and only while every caBundle contains it. */
function issueStep(
  observed: ObservedState,
  { leaf, signerObservation }: ReplicaState,
  lifetimes: Lifetimes,
): Step | undefined {
  const { signer } = observed.authority;
  const { wallMs } = observed.moment;
  if (signer === undefined || !isValidAt(signer, wallMs) || signerObservation === undefined) return undefined;
  const validUntilMs = Math.min(wallMs + lifetimes.leafLifeMs, signer.validUntilMs);
  const step: Step = { kind: "issue", signer, validUntilMs };
  if (leaf === undefined) return step;
  if (leaf.ca.id !== signer.id) {
    const isLeafUseless = wallMs >= leaf.validUntilMs || !isTrustedEverywhere(observed.bundles, leaf.ca);
    return isLeafUseless || hasSettled(signerObservation, observed.moment, lifetimes) ? step : undefined;
  }
  const isDue = wallMs >= leaf.validUntilMs - lifetimes.leafLifeMs / 3 && validUntilMs > leaf.validUntilMs;
  // A leaf that was issued while the clock was ahead would still be in use after its CA is dropped.
  const outlivesLimit = leaf.validUntilMs > wallMs + lifetimes.leafLifeMs + lifetimes.leafLifeMs / 24;
  return isDue || outlivesLimit ? step : undefined;
}

/** Repairs a missing, damaged or edited Secret, and creates a next CA in the last third of the signer's validity. */
function repairStep(observed: ObservedState, leaf: ServedLeaf | undefined, lifetimes: Lifetimes): Step | undefined {
  const { authority, moment } = observed;
  const lostCas = findLostCas(observed, leaf);
  const isUnpublished = isUnpublishedSigner(observed, leaf);
  const signer = isUnpublished ? undefined : authority.signer;
  const candidate = isUnpublished ? authority.signer : authority.next;
  const usableCandidate =
    candidate !== undefined && !isInLastThird(candidate, moment, lifetimes) ? candidate : undefined;
  const needsNext =
    signer === undefined || isInLastThird(signer, moment, lifetimes) || moment.wallMs < signer.validFromMs;
  const next = usableCandidate ?? (needsNext ? "to be created" : undefined);
  if (!observed.isDamaged && !isUnpublished && lostCas.length === 0 && next === authority.next) return undefined;
  const lostAsRetired = lostCas.map((ca) => retire(ca, moment.wallMs));
  const casInUse = [signer, usableCandidate];
  const retired = [...lostAsRetired, ...authority.retired].filter(
    (ca) => !casInUse.some((other) => other?.id === ca.id),
  );
  const draft: Draft = { signer, next, retired: withinLimits(retired, moment.wallMs, lifetimes) };
  return { kind: "write", draft, reason: reasonOf(observed, lostCas) };
}

function reasonOf(observed: ObservedState, lostCas: readonly Ca[]): WriteReason {
  if (trustedCas(observed.authority).length === 0 && lostCas.length === 0) return "begin";
  return observed.isDamaged || lostCas.length > 0 ? "repair" : "rotate";
}

/** CAs that may have signed a leaf in use and are missing from the Secret. */
function findLostCas(observed: ObservedState, leaf: ServedLeaf | undefined): readonly Ca[] {
  const possibleCas = [...(leaf === undefined ? [] : [leaf.ca]), ...observed.keylessCas, ...observed.publishedCas];
  const storedIds = new Set(storedCas(observed.authority).map((ca) => ca.id));
  return [...new Map(possibleCas.filter((ca) => !storedIds.has(ca.id)).map((ca) => [ca.id, ca])).values()];
}

/** A signer that is in no caBundle was added to the Secret by hand, and has to be published before it signs. */
function isUnpublishedSigner({ authority, publishedCas }: ObservedState, leaf: ServedLeaf | undefined): boolean {
  const { signer } = authority;
  if (signer === undefined || publishedCas.some((ca) => ca.id === signer.id)) return false;
  // If no CA is published, another client emptied the caBundles, and the signer is unchanged.
  return leaf === undefined ? publishedCas.length > 0 : leaf.ca.id !== signer.id;
}

function isInLastThird(ca: Ca, moment: Moment, lifetimes: Lifetimes): boolean {
  return moment.wallMs >= ca.validUntilMs - lifetimes.caLifeMs / 3;
}

function promoteStep(
  { authority, moment }: ObservedState,
  { nextObservation }: ReplicaState,
  lifetimes: Lifetimes,
): Step | undefined {
  const { signer, next, retired } = authority;
  if (next === undefined || nextObservation === undefined) return undefined;
  // Before the first CA no replica is ready, so caBundles without this CA are harmless.
  const isFirst = signer === undefined && retired.length === 0;
  if (!isFirst && !hasSettled(nextObservation, moment, lifetimes)) return undefined;
  // A CA that is not valid yet because a clock was ahead at its creation is promoted too; its successor is created immediately.
  const retiredSigner = signer === undefined ? [] : [retire(signer, moment.wallMs)];
  const draft: Draft = {
    signer: next,
    next: undefined,
    retired: withinLimits([...retiredSigner, ...retired], moment.wallMs, lifetimes),
  };
  return { kind: "write", draft, reason: "promote" };
}

function dropStep(
  { authority, moment }: ObservedState,
  overdueObservation: Observation | undefined,
  lifetimes: Lifetimes,
): Step | undefined {
  if (overdueObservation === undefined || moment.monotonicMs - overdueObservation.sinceMs < lifetimes.dropDelayMs)
    return undefined;
  const droppedIds = new Set(overdueObservation.caIds.split(" "));
  const markedCas = authority.retired.map((ca) => (droppedIds.has(ca.id) ? { ...ca, isDropped: true } : ca));
  const draft: Draft = { ...authority, retired: withinLimits(markedCas, moment.wallMs, lifetimes) };
  return { kind: "write", draft, reason: "drop" };
}

function hasSettled(observation: Observation, moment: Moment, lifetimes: Lifetimes): boolean {
  return moment.monotonicMs - observation.sinceMs >= lifetimes.settleMs;
}

function continuedObservation(
  caIds: string | undefined,
  lastObservation: Observation | undefined,
  moment: Moment,
): Observation | undefined {
  if (caIds === undefined) return undefined;
  return lastObservation?.caIds === caIds ? lastObservation : { caIds, sinceMs: moment.monotonicMs };
}
