/**
 * Decides what a caBundle holds while replicas serve files that another program renews. Pure. The files of replicas change
 * minutes apart, so a CA that is not in this replica's files may be in another's: it stays for a while.
 */
import { bundleText, holds, holdsExactly, pemBlocks } from "../../authority/pem-bundle.ts";
import type { Moment } from "./authority.ts";
import type { ExternalPair } from "./external-files.ts";

/** Kubelet brings a changed Secret to every Pod within about two minutes. */
export const LINGER_MS = 15 * 60_000;

export type ExternalMemory = {
  readonly serving: ExternalPair;
  /** Since when each foreign CA was seen in a bundle. Monotonic milliseconds. */
  readonly foreignSince: ReadonlyMap<string, number>;
  /** Since when every webhook was seen to trust the pair that waits; by its certificate. */
  readonly waiting: { readonly cert: string; readonly sinceMs: number } | undefined;
};

export type ExternalSeen = {
  readonly moment: Moment;
  readonly bundles: readonly string[];
  readonly offered: ExternalPair;
};

export type ExternalDecision = {
  readonly memory: ExternalMemory;
  /** What to write into every webhook; `undefined` when they are right. */
  readonly publish: string | undefined;
};

export function decideExternal(seen: ExternalSeen, last: ExternalMemory, settleMs: number): ExternalDecision {
  const { moment, bundles, offered } = seen;
  const own = new Map([...offered.cas, ...last.serving.cas].map((ca) => [ca.id, ca] as const));
  const foreign = bundles.flatMap((bundle) => pemBlocks(bundle).blocks).filter((block) => !own.has(block.id));
  const foreignSince = new Map(foreign.map(({ id }) => [id, last.foreignSince.get(id) ?? moment.monotonicMs] as const));
  const left = foreign.filter(({ id }) => moment.monotonicMs - (foreignSince.get(id) ?? 0) < LINGER_MS);
  const wanted = [...own.values(), ...new Map(left.map((block) => [block.id, block] as const)).values()];
  const isRight = bundles.every((bundle) => holdsExactly(bundle, wanted));
  const isTrusted = isTrustedBy(bundles, offered);
  const known = last.waiting?.cert === offered.cert ? last.waiting : undefined;
  const waiting = isTrusted ? (known ?? { cert: offered.cert, sinceMs: moment.monotonicMs }) : undefined;
  const memory: ExternalMemory = { serving: last.serving, foreignSince, waiting };
  return {
    memory: mayServe(seen, memory, settleMs) ? { ...memory, serving: offered } : memory,
    publish: isRight ? undefined : bundleText(wanted),
  };
}

/** Whether every webhook trusts a CA that issued the pair. */
export function isTrustedBy(bundles: readonly string[], pair: ExternalPair): boolean {
  return bundles.every((bundle) => pair.issuers.some((ca) => holds(bundle, ca)));
}

/** A new pair of the same CA at once, of another CA when no API server can still hold a bundle without it. */
function mayServe({ moment, offered }: ExternalSeen, { serving, waiting }: ExternalMemory, settleMs: number): boolean {
  if (offered.cert === serving.cert) return false;
  const hasSameIssuers = offered.issuers.every((ca) => serving.issuers.some((other) => other.id === ca.id));
  if (hasSameIssuers || moment.wallMs >= serving.validUntilMs) return true;
  return waiting !== undefined && moment.monotonicMs - waiting.sinceMs >= settleMs;
}
