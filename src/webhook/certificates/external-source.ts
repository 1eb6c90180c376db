/**
 * Serves certificate files that another program renews, and writes their CAs to every caBundle. The files of replicas change
 * minutes apart, so a CA that is only in another replica's files stays in the caBundles for `FOREIGN_CA_TTL_MS`.
 */
import { bundleText, containsCertificate, containsExactly, parsePemBlocks } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import type { Moment } from "./authority.ts";
import type { ExternalPair } from "./external-files.ts";
import { type CertificateSource, certificateSource } from "./source.ts";
import { type BundlePorts, publishBundle, readExisting, UNTRUSTED } from "./webhook-configurations.ts";

/** Several times the two minutes that the kubelet may take to update a mounted Secret. */
export const FOREIGN_CA_TTL_MS = 15 * 60_000;

export type ExternalPorts = BundlePorts & {
  readonly read: () => Promise<ExternalPair>;
  readonly now: () => Moment;
  readonly settleMs: number;
};

type PairState = {
  readonly servedPair: ExternalPair;
  /** Monotonic time of the first observation of each CA that is in a caBundle, but not in the files, by CA ID. */
  readonly foreignSinceMs: ReadonlyMap<string, number>;
  /** The certificate in the files, and the time from which every caBundle has trusted it. */
  readonly pending: { readonly cert: string; readonly sinceMs: number } | undefined;
};

type ObservedState = { readonly moment: Moment; readonly bundles: readonly string[]; readonly newPair: ExternalPair };

type Decision = { readonly state: PairState; readonly bundleToPublish: string | undefined };

export async function externalSource(ports: ExternalPorts): Promise<CertificateSource> {
  let state: PairState = { servedPair: await ports.read(), foreignSinceMs: new Map(), pending: undefined };
  let distrustReason: string | undefined;

  const publish = (newPair: ExternalPair): Promise<unknown> =>
    reconcile({
      target: "the webhook configuration",
      read: async () => ({ moment: ports.now(), configuration: await readExisting(ports.configurations) }),
      decide: ({ moment, configuration: { bundles } }) => {
        const decision = decide({ moment, bundles, newPair }, state, ports.settleMs);
        state = decision.state;
        distrustReason = isTrustedBy(bundles, state.servedPair) ? "" : UNTRUSTED;
        return decision.bundleToPublish;
      },
      write: (bundle, { configuration }) => publishBundle(ports, configuration, bundle),
    });

  return certificateSource({
    current: () => state.servedPair,
    distrustReason: () => distrustReason,
    update: async () => {
      const reading = ports.read();
      // The caBundles have to trust the pair in use even if the files are unusable.
      await publish(await reading.catch(() => state.servedPair));
      await reading;
    },
  });
}

function decide(observed: ObservedState, lastState: PairState, settleMs: number): Decision {
  const { moment, bundles, newPair } = observed;
  const ownCas = new Map([...newPair.cas, ...lastState.servedPair.cas].map((ca) => [ca.id, ca] as const));
  const foreignCas = bundles
    .flatMap((bundle) => parsePemBlocks(bundle).blocks)
    .filter((block) => !ownCas.has(block.id));
  const foreignSinceMs = new Map(
    foreignCas.map(({ id }) => [id, lastState.foreignSinceMs.get(id) ?? moment.monotonicMs] as const),
  );
  const recentForeignCas = foreignCas.filter(
    ({ id }) => moment.monotonicMs - (foreignSinceMs.get(id) ?? 0) < FOREIGN_CA_TTL_MS,
  );
  const desiredCas = [
    ...ownCas.values(),
    ...new Map(recentForeignCas.map((block) => [block.id, block] as const)).values(),
  ];
  const isPublished = bundles.every((bundle) => containsExactly(bundle, desiredCas));
  const isTrusted = isTrustedBy(bundles, newPair);
  const lastPending = lastState.pending?.cert === newPair.cert ? lastState.pending : undefined;
  const pending = isTrusted ? (lastPending ?? { cert: newPair.cert, sinceMs: moment.monotonicMs }) : undefined;
  const nextState: PairState = { servedPair: lastState.servedPair, foreignSinceMs, pending };
  return {
    state: mayServe(observed, nextState, settleMs) ? { ...nextState, servedPair: newPair } : nextState,
    bundleToPublish: isPublished ? undefined : bundleText(desiredCas),
  };
}

function isTrustedBy(bundles: readonly string[], pair: ExternalPair): boolean {
  return bundles.every((bundle) => pair.issuers.some((ca) => containsCertificate(bundle, ca)));
}

/** A new pair of the same CA is served immediately. A pair of another CA is served after every API server has the new caBundle. */
function mayServe({ moment, newPair }: ObservedState, { servedPair, pending }: PairState, settleMs: number): boolean {
  if (newPair.cert === servedPair.cert) return false;
  const hasSameIssuers = newPair.issuers.every((ca) => servedPair.issuers.some((other) => other.id === ca.id));
  if (hasSameIssuers || moment.wallMs >= servedPair.validUntilMs) return true;
  return pending !== undefined && moment.monotonicMs - pending.sinceMs >= settleMs;
}
