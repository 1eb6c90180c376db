/**
 * What the caBundle has to hold while replicas serve files renewed elsewhere. Pure. The files of replicas change
 * minutes apart, so a CA that is not of this replica's files may be the one of another's: it is left for a while.
 */

import { bundleText, holds, holdsExactly, pemBlocks } from "../../authority/pem-bundle.ts";
import type { Moment } from "./authority.ts";
import type { BroughtPair } from "./external-pair.ts";

/** Kubelet brings a changed Secret to every Pod within about two minutes. */
export const LINGER_MS = 15 * 60_000;

export type BroughtMemory = {
  readonly serving: BroughtPair;
  /** Since when each foreign CA was seen in a bundle. Monotonic milliseconds. */
  readonly strangers: ReadonlyMap<string, number>;
  /** Since when every webhook was seen to trust the pair that waits; by its certificate. */
  readonly waiting: { readonly cert: string; readonly sinceMs: number } | undefined;
};

export type BroughtSeen = {
  readonly moment: Moment;
  readonly bundles: readonly string[];
  readonly offered: BroughtPair;
};

export type BroughtDecision = {
  readonly memory: BroughtMemory;
  /** What to write into every webhook; `undefined` when they are right. */
  readonly publish: string | undefined;
};

export function decideBrought(seen: BroughtSeen, last: BroughtMemory, settleMs: number): BroughtDecision {
  const { moment, bundles, offered } = seen;
  const own = new Map([...offered.cas, ...last.serving.cas].map((ca) => [ca.id, ca] as const));
  const foreign = bundles.flatMap((bundle) => pemBlocks(bundle).blocks).filter((block) => !own.has(block.id));
  const strangers = new Map(foreign.map(({ id }) => [id, last.strangers.get(id) ?? moment.monotonicMs] as const));
  const left = foreign.filter(({ id }) => moment.monotonicMs - (strangers.get(id) ?? 0) < LINGER_MS);
  const wanted = [...own.values(), ...new Map(left.map((block) => [block.id, block] as const)).values()];
  const isRight = bundles.every((bundle) => holdsExactly(bundle, wanted));
  const isTrusted = isTrustedBy(bundles, offered);
  const known = last.waiting?.cert === offered.cert ? last.waiting : undefined;
  const waiting = isTrusted ? (known ?? { cert: offered.cert, sinceMs: moment.monotonicMs }) : undefined;
  const memory: BroughtMemory = { serving: last.serving, strangers, waiting };
  return {
    memory: mayServe(seen, memory, settleMs) ? { ...memory, serving: offered } : memory,
    publish: isRight ? undefined : bundleText(wanted),
  };
}

/** Whether every webhook trusts a CA that issued the pair. */
export function isTrustedBy(bundles: readonly string[], pair: BroughtPair): boolean {
  return bundles.every((bundle) => pair.issuers.some((ca) => holds(bundle, ca)));
}

/** A new pair of the same CA at once, of another CA when no API server can still hold a bundle without it. */
function mayServe({ moment, offered }: BroughtSeen, { serving, waiting }: BroughtMemory, settleMs: number): boolean {
  if (offered.cert === serving.cert) return false;
  const hasSameIssuers = offered.issuers.every((ca) => serving.issuers.some((other) => other.id === ca.id));
  if (hasSameIssuers || moment.wallMs >= serving.validUntilMs) return true;
  return waiting !== undefined && moment.monotonicMs - waiting.sinceMs >= settleMs;
}
