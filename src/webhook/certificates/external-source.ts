/**
 * Serves certificate files that another program renews, and writes their CAs to every caBundle. The files of replicas change
 * minutes apart, so a CA that is only in another replica's files stays in the caBundles for `FOREIGN_CA_TTL_MS`.
 */
import { bundleText, holds, holdsExactly, pemBlocks } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import type { Moment } from "./authority.ts";
import type { ExternalPair } from "./external-files.ts";
import { type CertificateSource, certificateSource } from "./source.ts";
import { type BundlePorts, publishBundle, readExisting, UNTRUSTED } from "./webhook-configurations.ts";

/** Several times the two minutes in which the kubelet updates a mounted Secret. */
export const FOREIGN_CA_TTL_MS = 15 * 60_000;

export type ExternalPorts = BundlePorts & {
  readonly read: () => Promise<ExternalPair>;
  readonly now: () => Moment;
  readonly settleMs: number;
};

type PairState = {
  readonly serving: ExternalPair;
  /** Monotonic time of the first observation of each CA that is in a caBundle, but not in the files, by CA ID. */
  readonly foreignSince: ReadonlyMap<string, number>;
  /** The pair in the files, since every caBundle trusts it. */
  readonly waiting: { readonly cert: string; readonly sinceMs: number } | undefined;
};

type Observed = { readonly moment: Moment; readonly bundles: readonly string[]; readonly offered: ExternalPair };

type Decision = { readonly state: PairState; readonly publish: string | undefined };

export async function externalSource(ports: ExternalPorts): Promise<CertificateSource> {
  let state: PairState = { serving: await ports.read(), foreignSince: new Map(), waiting: undefined };
  let distrust: string | undefined;

  const publish = (offered: ExternalPair): Promise<unknown> =>
    reconcile({
      what: "the webhook configuration",
      read: async () => ({ moment: ports.now(), configuration: await readExisting(ports.configurations) }),
      decide: ({ moment, configuration: { bundles } }) => {
        const decided = decide({ moment, bundles, offered }, state, ports.settleMs);
        state = decided.state;
        distrust = isTrustedBy(bundles, state.serving) ? "" : UNTRUSTED;
        return decided.publish;
      },
      write: (bundle, { configuration }) => publishBundle(ports, configuration, bundle),
    });

  return certificateSource({
    current: () => state.serving,
    distrust: () => distrust,
    update: async () => {
      const reading = ports.read();
      // The caBundles have to trust the pair in use even if the files are unusable.
      await publish(await reading.catch(() => state.serving));
      await reading;
    },
  });
}

function decide(seen: Observed, last: PairState, settleMs: number): Decision {
  const { moment, bundles, offered } = seen;
  const own = new Map([...offered.cas, ...last.serving.cas].map((ca) => [ca.id, ca] as const));
  const foreign = bundles.flatMap((bundle) => pemBlocks(bundle).blocks).filter((block) => !own.has(block.id));
  const foreignSince = new Map(foreign.map(({ id }) => [id, last.foreignSince.get(id) ?? moment.monotonicMs] as const));
  const recent = foreign.filter(({ id }) => moment.monotonicMs - (foreignSince.get(id) ?? 0) < FOREIGN_CA_TTL_MS);
  const wanted = [...own.values(), ...new Map(recent.map((block) => [block.id, block] as const)).values()];
  const isRight = bundles.every((bundle) => holdsExactly(bundle, wanted));
  const isTrusted = isTrustedBy(bundles, offered);
  const waitingBefore = last.waiting?.cert === offered.cert ? last.waiting : undefined;
  const waiting = isTrusted ? (waitingBefore ?? { cert: offered.cert, sinceMs: moment.monotonicMs }) : undefined;
  const memory: PairState = { serving: last.serving, foreignSince, waiting };
  return {
    state: mayServe(seen, memory, settleMs) ? { ...memory, serving: offered } : memory,
    publish: isRight ? undefined : bundleText(wanted),
  };
}

function isTrustedBy(bundles: readonly string[], pair: ExternalPair): boolean {
  return bundles.every((bundle) => pair.issuers.some((ca) => holds(bundle, ca)));
}

/** A new pair of the same CA is served at once. A pair of another CA is served after every API server has the new caBundle. */
function mayServe({ moment, offered }: Observed, { serving, waiting }: PairState, settleMs: number): boolean {
  if (offered.cert === serving.cert) return false;
  const hasSameIssuers = offered.issuers.every((ca) => serving.issuers.some((other) => other.id === ca.id));
  if (hasSameIssuers || moment.wallMs >= serving.validUntilMs) return true;
  return waiting !== undefined && moment.monotonicMs - waiting.sinceMs >= settleMs;
}
